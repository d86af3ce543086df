"""Two runs, or a run and a baseline, compared: what got worse, what got better, what the agent did otherwise."""
