"""What kind of failure a tool's answer, or a request to the model, is."""

import re
from typing import Any

from agenteval.lazyregex import lazy
from agenteval_nanoclaw.session.values import Record, record_of, text_of

ERROR_TYPES = (
    ("timeout", lazy(r"timed? ?out|-32001|Exit code 143|\bETIMEDOUT\b", re.IGNORECASE)),
    ("unknown_tool", lazy(r"No such tool available")),
    ("invalid_arguments", lazy(r"InputValidationError")),
    ("not_found", lazy(r"File does not exist|No such file or directory|\bENOENT\b|\b404\b")),
    ("permission_denied", lazy(r"permission|not allowed|\bEACCES\b|\b40[13]\b", re.IGNORECASE)),
    ("rate_limited", lazy(r"rate.?limit|\b429\b", re.IGNORECASE)),
    ("unavailable", lazy(r"\b50[0234]\b|\bECONN\w+\b|Unable to verify if domain", re.IGNORECASE)),
    ("exit_code", lazy(r"^Exit code \d+")),
)
"""Kinds of tool errors by what their texts say; the first that fits. Any other is a `tool_error`."""
RETRYABLE = frozenset({"timeout", "rate_limited", "unavailable"})


def error_type(message: str) -> str:
    """The kind of a tool's error."""
    return next((kind for kind, pattern in ERROR_TYPES if pattern.search(message[:2000])), "tool_error")


def api_error(record: Record) -> tuple[str, str]:
    """Kind and message of a failed request to the model."""
    told: Any = record_of(record.get("error"))
    status, kind, message = told.get("status"), text_of(told.get("type")), text_of(told.get("formatted"))
    while isinstance(told, dict):
        kind = text_of(told.get("type")) if text_of(told.get("type")) not in ("", "error") else kind
        message = text_of(told.get("message")) or message
        told = told.get("error")
    number = f"{status} " if isinstance(status, int) else ""
    attempt = record.get("retryAttempt")
    tried = f" (attempt {attempt})" if isinstance(attempt, int) else ""
    return kind or "api_error", f"{number}{message}{tried}".strip()
