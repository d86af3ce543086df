"""One run: in which order, in which process, and what is written."""
