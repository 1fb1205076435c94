"""What a report draws beside the verdict: the path of one connection, the rows of backends, what changed recently. Nothing here
judges."""
