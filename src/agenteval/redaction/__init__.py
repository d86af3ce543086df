"""Finds and hides what is sensitive, and holds the one door for all that leaves the process."""
