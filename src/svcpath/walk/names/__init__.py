"""What surrounds a client's lookup: its files, the cluster DNS, and what answers its queries. The resolution layer judges it."""
