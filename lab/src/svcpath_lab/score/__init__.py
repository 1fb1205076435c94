"""The score: how often diagnose finds a fault that somebody made on purpose, and how often it accuses falsely."""
