"""What is shipped: the wheels of svcpath and svcpath-lab, built and installed."""
