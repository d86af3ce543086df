"""Compares two runs, or a run with a baseline: changed verdicts, and changes in the agent's calls."""
