"""Files that people write: read once, strictly, and shown in place when something is wrong with them."""
