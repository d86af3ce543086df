"""`agenteval check`: what a change touches, which tests it reaches, and what it does to them."""
