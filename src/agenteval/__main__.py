"""`python -m agenteval`."""

from agenteval.cli import entry

entry()
