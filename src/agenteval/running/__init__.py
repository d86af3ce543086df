"""One run: in which order, in which process, what is written, and the exit code."""
