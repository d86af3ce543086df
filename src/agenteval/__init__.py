"""AgentEval: regression tests for tool-using agents."""

__version__ = "0.1.0"
