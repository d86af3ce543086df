"""The OpenTelemetry adapter: turns the spans of an agent into a normalized trace."""

from agenteval_otel.adapter import OtelAdapter

__all__ = ["OtelAdapter"]
