"""Live mode: the agent itself is run again, its tools replaced by fixtures and its model recorded, played or real."""
