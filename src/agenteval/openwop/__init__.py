"""OpenWOP (RFC 0081): writes a run as EvalSummary and events, reads an AgentEvalSuite as tests, and makes one of tests."""
