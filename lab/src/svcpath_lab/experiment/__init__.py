"""The reference experiment as code: played on a cluster, kept as a raw log, judged from that log alone."""
