"""What is known of the nodes' tables before anyone judges it: the dumps parsed, the mode in use, what a difference means."""
