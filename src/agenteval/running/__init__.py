"""One run: the order of its tests, its processes, and the files that it writes."""
