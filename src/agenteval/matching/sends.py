"""Messages that are sent: destinations and contents of the calls that send them.

A send is a call of `outbound_send`, or of the tool that a test names. Keys of arguments count in any case, with or without
`_` and `-`: `chat_id` is `chatId`.

destination
    The arguments under one of DESTINATION_KEYS: a text, a number, a list of them, or a mapping with an `id` or a
    `name`. The successful result adds the values under the same key, since it knows where the message went. If the
    arguments name none, only the result counts.
content
    The arguments under one of CONTENT_KEYS, with blanks folded, and attachments. If there are neither, all
    arguments that are no destination. Null and empty values count as left out.
the conversation itself
    The place of the final output. A destination is the conversation itself if it is the id of the scenario's group
    or session, also behind `group-`, `group:`, `#` or `@`, or the `to` of a final output. A send without any
    destination also goes there, since such tools answer where they were asked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agenteval.contracts.json_values import args_key
from agenteval.contracts.trace import Event, ToolCall, Trace, TraceScenario
from agenteval.text.parts import composed

OUTBOUND = "outbound_send"
"""The canonical name of the tool that sends messages."""

DESTINATION_KEYS = (
    *("channel", "channel_id", "to", "destination", "destinations", "chat", "chat_id", "chat_jid", "jid"),
    *("recipient", "recipients", "cc", "bcc", "group", "group_id", "platform_id", "target"),
    *("conversation", "conversation_id", "room", "room_id"),
)
CONTENT_KEYS = ("content", "text", "message", "body", "markdown", "caption")
ATTACHMENT_KEYS = (
    *("attachment", "attachments", "card", "file", "file_path", "files", "image", "media", "path", "url"),
)
NAME_KEYS = ("id", "name")

CONVERSATION = "the conversation itself"
_OWN_PREFIXES = ("group-", "group:", "#", "@")


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


_DESTINATIONS = frozenset(map(_plain, DESTINATION_KEYS))
_RECIPIENTS = ("to", "recipient", "recipients", "cc", "bcc")
_CONTENTS = frozenset(map(_plain, CONTENT_KEYS))
_ATTACHMENTS = frozenset(map(_plain, ATTACHMENT_KEYS))


def destinations(call: ToolCall) -> list[str]:
    """List the names of all destinations of a send, each once; none if neither arguments nor results name one."""
    asked = _by_key(call.args)
    found = [name for names in asked.values() for name in names]
    for report in _reports(call):
        # A result may name other chats under other keys ("forwarded_from"). Only the key that was asked for is the destination.
        found += [name for key, names in report.items() if key in asked or not asked for name in names]
    return list(dict.fromkeys(found))


def reported(call: ToolCall) -> list[str]:
    """List the names under any of DESTINATION_KEYS in the successful results of a send, each once."""
    return list(
        dict.fromkeys(name for report in _reports(call) for names in report.values() for name in names)
    )


def _reports(call: ToolCall) -> list[dict[str, list[str]]]:
    return [_by_key(result.data.get("result")) for result in call.results if result.data.get("success")]


def _by_key(data: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in data.items() if isinstance(data, dict) else ():
        if (plain := _plain(str(key))) in _DESTINATIONS and (names := list(_names(value))):
            found.setdefault(plain, []).extend(names)
    return found


def _names(value: Any) -> Iterator[str]:
    """Yield the destinations that a value names."""
    if isinstance(value, str):
        if value.strip():
            yield composed(value.strip())
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(int(value) if value == value // 1 else value)
    elif isinstance(value, list | dict):
        for item in value if isinstance(value, list) else _naming(value):
            yield from _names(item)


def _naming(value: dict[str, Any]) -> Iterator[Any]:
    return (item for key, item in value.items() if _plain(str(key)) in _DESTINATIONS or key in NAME_KEYS)


@dataclass(slots=True)
class Message:
    """A message to one or more addresses. `how` names the tool or the final output; `text` is what people read."""

    event: Event
    how: str
    addresses: frozenset[str]
    text: str
    attached: str


def messages(trace: Trace, calls: Iterable[ToolCall]) -> list[Message]:
    """List the messages of these sends and of the final outputs, in order; failed sends have sent nothing.

    A final output that was delivered by a send (`sent_by`) is not counted again.
    """
    outputs = trace.of_type("final_output")
    names = frozenset(name for event in outputs for name in _names(event.data.get("to")))
    found = [
        Message(call.event, call.tool, _addresses(call, trace.scenario, names), *_content(call))
        for call in calls
        if not call.failed
    ]
    own = frozenset({CONVERSATION})
    for event in outputs:
        content = (event is outputs[-1] and trace.output) or event.data.get("content")
        if isinstance(content, str) and content.strip() and not event.data.get("sent_by"):
            found.append(Message(event, "the final output", own, _folded(content), ""))
    return sorted(found, key=lambda message: message.event.seq)


def _addresses(call: ToolCall, scenario: TraceScenario, own_names: frozenset[str]) -> frozenset[str]:
    """Return the addresses of a send, one for each recipient.

    Other destinations, such as a platform beside a chat, are part of each.
    """

    def address(*names: str) -> str:
        is_own = all(name in own_names or _is_own(name, scenario) for name in names)
        return CONVERSATION if is_own else " / ".join(names)

    asked = _by_key(call.args)
    if len(asked) > 1:
        return frozenset(address(*names) for names in _places(asked))
    return frozenset(map(address, destinations(call) or [CONVERSATION]))


def _places(asked: dict[str, list[str]]) -> list[list[str]]:
    """Return a list for each recipient: the other destinations (such as the platform of a chat), then the recipient."""
    place = [name for key in sorted(asked.keys() - set(_RECIPIENTS)) for name in asked[key]]
    recipients = [name for key in _RECIPIENTS for name in asked.get(key, ())]
    return [[*place, name] for name in recipients] or [place]


def _is_own(name: str, scenario: TraceScenario) -> bool:
    bare = next((name.removeprefix(prefix) for prefix in _OWN_PREFIXES if name.startswith(prefix)), name)
    own = (scenario.group_id, scenario.session_id)
    return name in own or bare in own


def _content(call: ToolCall) -> tuple[str, str]:
    args = call.args
    if not call.shows_arguments:
        return "", call.event.event_id  # unknown, so equal to no other message
    plain = {key: _plain(str(key)) for key in args}
    plain = {key: name for key, name in plain.items() if args[key] not in (None, "", [], {})}
    texts = [_text(args[key]) for key, name in plain.items() if name in _CONTENTS]
    attached = [(name, args[key]) for key, name in plain.items() if name in _ATTACHMENTS]
    if not texts and not attached:
        attached = [(name, args[key]) for key, name in plain.items() if name not in _DESTINATIONS]
    return _folded("\n".join(texts)), "\n".join(sorted(map(args_key, attached)))


def without_texts(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a send without its text; attachments stay."""
    return {key: value for key, value in args.items() if _plain(str(key)) not in _CONTENTS}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else args_key(value)


def _folded(text: str) -> str:
    return " ".join(composed(text).split())
