"""Kubernetes programs for the lab: named folder, PATH, cache, official release, own build, in that order."""
