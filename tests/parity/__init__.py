"""Verdicts of two commits side by side: nothing changes unseen. See ``__main__``."""
