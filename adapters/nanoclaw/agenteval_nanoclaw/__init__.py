"""The NanoClaw adapter: what NanoClaw did, as a normalized trace."""

from agenteval_nanoclaw.adapter import NanoClawAdapter

__all__ = ["NanoClawAdapter"]
