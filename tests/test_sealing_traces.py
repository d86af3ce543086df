"""Long traces are written in parts: the bytes are those of the whole."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agenteval.drafting.cleaning import scrubbed_data
from agenteval.redaction import Redactor, plain, token
from agenteval.reporters.sealing import EVENTS_AT_ONCE, LeakError, sealed, sealed_trace
from agenteval.trace import Trace
from builders import make_trace
from planted import AWS


def long_trace(events: int, text: str = "said") -> Trace:
    """So many messages, the last one with the text; in a situation that has no events either."""
    said = [f"message {number}" for number in range(events - 1)]
    trace = make_trace(
        [{"type": "message_received", "role": "user", "content": each} for each in (*said, text)]
    )
    return replace(trace, scenario=replace(trace.scenario, scheduler_context={"events": [], "note": text}))
