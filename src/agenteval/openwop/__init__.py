"""OpenWOP (RFC 0081): a run as EvalSummary and events, an AgentEvalSuite as tests, and tests as one."""
