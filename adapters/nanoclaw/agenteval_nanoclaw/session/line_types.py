"""The types of line in transcripts and streams that are known. Each release of the CLI adds some."""

_PASSED_OVER = """
    agent-name agent-setting ai-title api-request api-request-blob api-request-shape atis-latch cost-state custom-title
    file-history-delta file-history-snapshot keep_alive last-prompt mode permission-mode pr-link progress
    queue-operation rate_limit_event stream_event summary tool_progress tools-used worktree-state
"""
_OTHER_KNOWN = """
    agent_listing_delta auto_mode away_summary date date_change deferred_tools_delta deferred_tools_record
    edited_text_file environment file hook_additional_context hook_response hook_started hook_success informational
    local_command mcp_instructions_delta model prompt_snapshot remote_session_change session_context
    silent_turn_reminder skill_listing status stop_hook_summary task_progress task_reminder task_started task_updated
    todo_reminder turn_duration
"""
PASSED_OVER = frozenset(_PASSED_OVER.split())
"""Types of line that are known and tell nothing that a trace holds; some have system prompts, which must not be copied."""
TOLD = {
    "system": (
        "api_error",
        "api_retry",
        "compact_boundary",
        "init",
        "model_refusal_no_fallback",
        "task_notification",
    ),
    "attachment": ("queued_command", "instructions"),
}
"""The subtypes that are read of these types. All others are passed over."""
OTHER_KNOWN = frozenset(_OTHER_KNOWN.split())
"""Subtypes, and types of attachment, that are known and tell nothing that a trace holds."""
LINES = frozenset({"user", "assistant", "result", *TOLD, *PASSED_OVER})
"""All known types: a file without any of them is of another kind."""
