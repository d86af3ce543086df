"""Documentation told from the assertion classes: explanations, examples, the reference page."""
