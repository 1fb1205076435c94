"""Recordings of a real cluster that ship with the package (README.md beside this file says what they hold)."""
