"""What `adapter_input` of a test may say, told for editors; the adapter checks it."""

from agenteval.contracts.models import Model, model


@model
class OtelInput(Model):
    """What is replayed: an agent's spans."""

    replay_file: str
    """The file of spans, relative to the test: OTLP in JSON or protobuf, or what Tempo or Jaeger gives."""
    trace_id: str | None = None
    """Which trace is meant, when the file holds several."""
