"""Faults made on purpose: each a file that says what it changes, how that is undone, and what a right diagnosis gives."""
