"""Reads files that people write: once, strictly, and with an excerpt where something is wrong."""
