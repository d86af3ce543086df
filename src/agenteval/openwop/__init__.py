"""OpenWOP (RFC 0081): a run as an EvalSummary."""
