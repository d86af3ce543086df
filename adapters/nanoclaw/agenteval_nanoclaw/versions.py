"""What the releases of NanoClaw v2 have in common and where they differ: the one place that knows, which all others ask.

A checkout is known by the files that it has, never by the number in its package.json: between two releases the number stays
the same while files move. A recording does not tell its release at all. So its reader knows the words of every release at
once; what a release no longer uses does no harm, since nobody else uses those words.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Where the checkout of a release has what a live run uses."""

    name: str
    """The release with which it begins, for messages."""
    session_schema: str
    """The file with the schemas of the two databases of a session."""
    inbound_schema: str = "INBOUND_SCHEMA"
    outbound_schema: str = "OUTBOUND_SCHEMA"
    """The constants in it."""


RELEASES = (
    Release(name="2.2", session_schema="src/mailbox/sqlite/schema.ts"),
    Release(name="2.0", session_schema="src/db/schema.ts"),
)
"""All releases that are known, the newest first."""


def release_of(has: Callable[[str], bool]) -> Release | None:
    """The release of a checkout, of which `has` tells whether there is a file; None when it is none that is known."""
    return next((each for each in RELEASES if has(each.session_schema)), None)


# What recordings of all releases hold --------------------------------------------------------------------------

SENT = ("chat", "chat-sdk")
"""The kinds of outbound rows that somebody reads: people, or another agent."""
RUN_LOG = "task_log"
"""The kind of outbound row that ends in the log of a task, and that nobody is sent (2.2)."""
TO_AGENTS = "agent"
"""The channel of messages to other agents of the install, and from them."""
ECHO = "session-echo"
"""The channel of rows that copy what was said elsewhere, for the agent to know: nobody sent them (2.2)."""
NOTE_IDS = ("appr-note-", "sys-")
"""How the ids of rows begin in which the host itself tells the agent something: what became of an approval, for one."""
CONTEXT_TAGS = ("cross-session-context", "dm-history", "channel-history")
"""The elements of a prompt that stand for what was said elsewhere or before (2.2)."""
TASK_SESSION = "system:tasks:"
"""How the thread of a session begins that belongs to one series of tasks (2.2)."""
MESSAGE_GATE = "a2a_message_gate"
"""The action of approvals for which messages to other agents are held (2.2)."""
