"""Compares two runs, or a run with a baseline: what got worse or better, and what the agent did differently."""
