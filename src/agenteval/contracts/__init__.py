"""What all of agenteval speaks: the test case, the trace, the result, adapters, errors."""
