"""The types of line in transcripts that are known. Each release of the CLI adds some."""

PASSED_OVER = frozenset(
    {
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "ai-title",
        "cost-state",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "progress",
        "queue-operation",
        "summary",
        "tools-used",
    }
)
"""Types of line that are known and tell nothing that a trace holds; some have system prompts, which must not be copied."""
TOLD = {
    "system": frozenset({"api_error", "compact_boundary", "model_refusal_no_fallback"}),
    "attachment": frozenset({"queued_command", "instructions"}),
}
"""The subtypes that are read of these types. All others are passed over."""
OTHER_KNOWN = frozenset(
    {
        "agent_listing_delta",
        "auto_mode",
        "date",
        "deferred_tools_delta",
        "deferred_tools_record",
        "edited_text_file",
        "environment",
        "informational",
        "local_command",
        "model",
        "prompt_snapshot",
        "remote_session_change",
        "session_context",
        "silent_turn_reminder",
        "skill_listing",
        "stop_hook_summary",
        "todo_reminder",
        "turn_duration",
    }
)
"""Subtypes, and types of attachment, that are known and tell nothing that a trace holds."""
