"""Holds what all of agenteval shares: the test case, the trace, the result, adapters, errors."""
