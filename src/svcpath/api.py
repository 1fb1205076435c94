"""What ``import svcpath`` re-exports."""
