"""What NanoClaw's databases and group folders tell, the same for both generations: `v1` and `v2` fill it in."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agenteval_nanoclaw.session.values import records_in, text_of


@dataclass(slots=True, kw_only=True)
class Inbound:
    """Something that woke the agent, or was shown to it. Times are milliseconds since 1970."""

    id: str
    kind: str
    """`chat`, `chat-sdk`, `task`, `webhook`, `system` … as NanoClaw says."""
    text: str
    time: int
    session: str
    seq: str = ""
    sender: str = ""
    channel: str = ""
    platform_id: str = ""
    process_after: int | None = None
    recurrence: str = ""
    series: str = ""
    acknowledged: str = ""
    """`processing`, `completed` or `failed`; empty when nothing says so."""
    ended: int | None = None
    error: str = ""


@dataclass(slots=True, kw_only=True)
class Outbound:
    """One message that was queued for sending."""

    id: str
    seq: str
    time: int
    content: dict[str, Any]
    channel: str
    platform_id: str
    in_reply_to: str = ""
    delivered: bool = False
    platform_message_id: str = ""

    @property
    def text(self) -> str:
        """What people read."""
        text = self.content.get("text") or self.content.get("fallbackText")
        return text if isinstance(text, str) else ""


@dataclass(slots=True, kw_only=True)
class Destination:
    """A name that the agent may send to."""

    name: str
    channel: str
    platform_id: str


@dataclass(slots=True, kw_only=True)
class Session:
    """One session: what came in and went out."""

    id: str
    owner: str
    """The agent group (v2) or group folder (v1)."""
    inbound: list[Inbound] = field(default_factory=list)
    outbound: list[Outbound] = field(default_factory=list)
    outbound_is_stored: bool = True
    destinations: list[Destination] = field(default_factory=list)
    routing: tuple[str, str] = ("", "")
    """Channel and platform id of the conversation."""
    continuation: str = ""
    """The SDK session that it goes on in."""

    def name_of(self, channel: str, platform_id: str) -> str:
        """The name of a destination, else its platform id."""
        for each in self.destinations:
            if (each.channel, each.platform_id) == (channel, platform_id):
                return each.name
        return platform_id


@dataclass(slots=True, kw_only=True)
class Mount:
    """A folder of the host inside the agent's container."""

    inside: str
    host: str
    readonly: bool = False

    @property
    def group(self) -> str:
        """The folder of the group that it is, or is in; empty when it is none."""
        parts = [part for part in self.host.replace("\\", "/").split("/") if part]
        return parts[parts.index("groups") + 1] if "groups" in parts[:-1] else ""

    @property
    def holds_all(self) -> bool:
        """Whether it is the folder of all groups."""
        return self.host.replace("\\", "/").rstrip("/").endswith("/groups")


def listed_mounts(listed: Any) -> list[Mount]:
    """The additional mounts that a group's configuration lists; what has not the form of one is passed over."""
    return [
        Mount(
            inside="/workspace/extra/" + text_of(each.get("containerPath")).strip("/"),
            host=text_of(each.get("hostPath")),
            readonly=bool(each.get("readonly")),
        )
        for each in records_in(listed)
    ]


@dataclass(slots=True, kw_only=True)
class Group:
    """A group: its folder's name is its id in traces."""

    folder: str
    owner: str
    """The agent group (v2), or the folder again (v1)."""
    mounts: list[Mount] | None = None
    """Additional mounts; None when nothing tells."""


@dataclass(slots=True, kw_only=True)
class Store:
    """All of it."""

    sessions: list[Session] = field(default_factory=list)
    groups: dict[str, Group] = field(default_factory=dict)
    """By owner."""
    folders: Path | None = None
    """The host's `groups` folder, as it was when the recording was copied."""

    def group_of(self, owner: str) -> Group | None:
        """The group of an owner; the only one there is when the owner is not known."""
        if not owner and len(self.groups) == 1:
            return next(iter(self.groups.values()))
        return self.groups.get(owner)
