"""What is under way, and whether the next change can drain."""
