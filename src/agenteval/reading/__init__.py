"""Reads files that people write: once, strictly, and with an excerpt of the place of each error."""
