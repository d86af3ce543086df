"""The OpenTelemetry adapter: what an agent did by its spans, as a normalized trace."""

from agenteval_otel.adapter import OtelAdapter

__all__ = ["OtelAdapter"]
