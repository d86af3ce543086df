"""Compares two runs, or a run with a baseline: verdicts that got worse or better, and changes in the agent's calls."""
