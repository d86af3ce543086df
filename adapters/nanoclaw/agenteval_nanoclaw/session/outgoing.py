"""The messages that a run sent, and the ones that arrived.

Where the databases are recorded, their outbound rows are the truth: the runner may change a message of the agent, send it
twice, or not at all. Rows are explained in this order: a tool's result names its row; a `<message>` block became the row
with its text, else the next row to its destination; a row without an explanation is a send of its own. Without databases,
the texts count as sent.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from agenteval.contracts.trace import TraceBuilder, TraceMessage
from agenteval.matching.sends import OUTBOUND
from agenteval.text.fitting import clipped
from agenteval.text.lazy_regexes import lazy
from agenteval_nanoclaw.session.answers import Answer, answers_in
from agenteval_nanoclaw.session.lines import Entry, read_lines
from agenteval_nanoclaw.session.results import OWN_SERVER, Call, fitting, flat
from agenteval_nanoclaw.session.runs import CLOCK_SLACK, Reading, Run
from agenteval_nanoclaw.session.store import Outbound, Session, State
from agenteval_nanoclaw.session.transcript import Line
from agenteval_nanoclaw.session.values import Record, elements, iso, record_of, text_of
from agenteval_nanoclaw.versions import RUNNER_FAILED, TO_AGENTS

LONGEST_QUOTE = 200
FINAL_TEXT = "final text"
"""The `recorded_tool` of a message that a text of the agent sent."""
NO_TEXT = "messages_out"
"""The `recorded_tool` of a message without an explanation: the table that holds it."""
NOT_WRAPPED = "the last text was not delivered: nothing in it is in <message to=…>, and no text after it was"
OTHER_TEXT = "another text with which the agent ended a turn is not the final output: {text}"
NOT_SENT = "no message went out for what the {what} says to {to}: {text}"
CHANGED = "what went out to {to} is not what the agent wrote: {text}"
UNEXPLAINED = "nothing that the agent wrote explains the message that went out to {to}: {text}"
NOT_ARRIVED: dict[State, str] = {
    "queued": "the message to {to} was not sent yet",
    "failed": "the message to {to} could not be sent",
    "held": "the message to {to} is held until somebody approves it",
    "refused": "the message to {to} was held, and then refused",
    "lost": "the message to {to} was taken by the host, and reached nobody",
}
_BLOCK = lazy(r'<(message)\s+to="([^"]*)"')
_INTERNAL = lazy(r"(?s)<internal>.*?(?:</internal>|\Z)")
_SENT_ID = lazy(r"\(id: ([\w-]+)")
_SENT_TO = lazy(r"(?:\A|[()])(?>[^()]*?\bsent to (?=[^()\s]))([^()]+) \(id:")
"""The destination in a result. The pattern is tried once for each stretch without brackets, so it takes linear time."""
_BY_CONTENT = {"ask_user_question": "ask_question", "edit_message": "edit", "add_reaction": "reaction"}
"""Tools of NanoClaw with results that do not name their row, and the type or operation of the row."""


class Part(NamedTuple):
    """A part of a text for one destination. `to` is empty where there is only the conversation."""

    to: str
    text: str


def parts_of(text: str, generation: str) -> list[Part]:
    """List the parts of a text that are sent. `generation` is `v2`, `v1`, or empty for an agent without NanoClaw."""
    shown = _INTERNAL.sub("", text) if generation else text
    if generation == "v2":
        blocks = elements(shown, _BLOCK)
        return [Part(each.opening[2], text) for each in blocks if (text := each.inner.strip())]
    return [Part("", shown.strip())] if shown.strip() else []


def sent_to(answer: str) -> str:
    """Return the destination in the result of a send tool; empty where it names none."""
    named = _SENT_TO.search(answer)
    return named[1] if named else ""


@dataclass(slots=True)
class _Explained:
    """The explained rows: by the calls of tools, and by parts of texts (answer, number from 1)."""

    by_call: dict[str, Outbound] = field(default_factory=dict)
    by_part: dict[tuple[str, int], Outbound] = field(default_factory=dict)

    @property
    def ids(self) -> set[str]:
        """The ids of the explained rows."""
        return {row.id for row in (*self.by_call.values(), *self.by_part.values())}


def _kind(row: Outbound) -> str:
    """Return the type or operation of a row; empty for a plain message."""
    return row.operation or text_of(row.content.get("type"))


def _explain(
    run: Run, lines: Sequence[Entry], parts: dict[str, list[Part]], answers: list[Answer]
) -> _Explained:
    """Find the rows that a run explains exactly: named by a tool's result, or equal to a part of a text."""
    found = _Explained()
    session = run.session
    if session is None:
        return found
    own = {row.id: row for row in [*run.outbound, *(row for row, _ in run.shared)]}
    rows = sorted(own.values(), key=lambda row: row.number)
    _explain_by_calls(found, lines, rows, session)
    taken = found.ids
    numbered = [
        (answer, number, part) for answer in answers for number, part in enumerate(parts[answer.id], 1)
    ]
    # A fork may send a message elsewhere: the destination decides only among equal texts.
    for is_placed, (answer, number, part) in product((True, False), numbered):
        if (answer.id, number) in found.by_part:
            continue
        to = part.to if is_placed else ""
        equal = (row for row in rows if row.id not in taken and _has_text(row, part, answer, to, session))
        if row := next(equal, None):
            found.by_part[answer.id, number] = row
            taken.add(row.id)
    return found


def _has_text(row: Outbound, part: Part, answer: Answer, to: str, session: Session) -> bool:
    """Return whether a plain message has the text of a part, and goes to `to`; an empty `to` allows any destination."""
    if row.operation or row.text.strip() != part.text:
        return False
    # A row cannot be older than the text that it sends, but for the second that its time may be off.
    if row.until + CLOCK_SLACK < answer.last.time:
        return False
    return to in ("", session.name_of(row.channel, row.platform_id))


@dataclass(slots=True)
class _Utterance:
    """Rows that went out to the conversation at once: from one text, by one call, or unexplained (`row`)."""

    rows: list[Outbound]
    answer: Answer | None = None
    call: str = ""
    row: str = ""


def _explain_by_calls(
    found: _Explained, lines: Sequence[Entry], rows: list[Outbound], session: Session
) -> None:
    """Add the rows of the calls: the one that a result names, else one with the content of the call."""
    names = {name: row for row in session.outbound for name in (row.seq, row.id)}
    for call_id, (name, args), block in _answered_calls(lines):
        named = _SENT_ID.search(flat(block.get("content")))
        kind = _BY_CONTENT.get(name, "")
        # A question goes out even if nobody answers it in time; the tool then reports an error.
        went_out = kind == "ask_question" or block.get("is_error") is not True
        if named and named[1] in names:
            found.by_call[call_id] = names[named[1]]
        elif kind and went_out and (row := _by_content(kind, args, rows, found.ids)):
            found.by_call[call_id] = row


def _answered_calls(lines: Sequence[Entry]) -> Iterator[tuple[str, tuple[str, Record], Record]]:
    """List the results of NanoClaw's own tools: the id of the call, its tool and arguments, and the block of the result."""
    calls: dict[str, tuple[str, Record]] = {}
    answered: Counter[str] = Counter()
    for entry in lines:
        for block in entry.blocks("tool_use"):
            name = text_of(block.get("name"))
            if name.startswith(OWN_SERVER):
                calls[text_of(block.get("id"))] = name.removeprefix(OWN_SERVER), record_of(block.get("input"))
        for block in entry.blocks("tool_result"):
            recorded = text_of(block.get("tool_use_id"))
            if recorded in calls:
                # Some services use one id for many calls: the second result of `call_0` is of the call `call_0#2`.
                answered[recorded] += 1
                number = answered[recorded]
                yield recorded if number == 1 else f"{recorded}#{number}", calls[recorded], block


def _by_content(kind: str, args: Record, rows: list[Outbound], taken: set[str]) -> Outbound | None:
    """Return the row of a call with a result that does not name it: the first free row of its kind, with equal content first."""
    free = [row for row in rows if _kind(row) == kind and row.id not in taken]
    keys = ("question", "text", "emoji")
    equal = [row for row in free if all(row.args.get(key) == args.get(key) for key in keys)]
    return next(iter(equal or free), None)


class SentMessages:
    """Adds the sends of a run to the trace: by tools, by texts, and those without an explanation.

    The final output is the last message that arrived in the conversation. If a text sent it, it is no send besides; else
    it names the calls in `sent_by`. Any other message is an `outbound_send` of its own, with the `recorded_tool`
    `final text` or `messages_out`. A message that did not arrive is a failed send.
    """

    def __init__(self, run: Run, lines: Sequence[Entry], builder: TraceBuilder, reading: Reading) -> None:
        self.run = run
        self.builder = builder
        self.stored = run.outbound_is_stored
        answers = answers_in(lines)
        finals = [answer for answer in answers if not answer.calls]
        self.texts = answers if run.generation == "v2" else finals
        """The texts that may send messages: in v2 also texts beside calls."""
        self.own = self._conversation()
        """The names of the run's conversation: its messages came from there, and its answers go there."""
        self.one_door = _begun_by_tasks(run)
        """True if tools alone send, as in runs of tasks since 2.2. The final text then goes to the log of the task."""
        self.parts = _parts(self.texts, run)
        self.delivers = bool(run.generation) or self.stored
        self.final: Answer | None
        """The text with which the agent ended the run."""
        self.speaker: Answer | None
        """The last text that sends something to the conversation, judged by the texts alone."""
        self.final, self.speaker = self._last_texts(finals)
        self.by_last_line = {id(answer.last): answer for answer in self.texts}
        self.output: TraceMessage | None = None
        self.notes: list[str] = []
        self.called: dict[str, str] = {}
        """The texts that tools sent to the conversation, by call; used where no rows are recorded."""
        self.explained = _explain(run, lines, self.parts, self.texts) if self.stored else _Explained()
        unexplained = self._without_explanation(reading) if self.stored else []
        self.failures = [row.text for row in unexplained if row.text.startswith(RUNNER_FAILED)]
        """Messages of the runner that the agent's process failed in this run. They are no answers."""
        self.unexplained = [row for row in unexplained if not row.text.startswith(RUNNER_FAILED)]
        self.waiting = list(self.unexplained)
        """Unexplained rows that are not in the trace yet."""
        self.last = self._last() if self.stored else []
        if not self.delivers:
            self._note_other_texts(finals)

    def _note_other_texts(self, finals: list[Answer]) -> None:
        """Note the texts that ended a turn and are not the final output, where nothing delivers them."""
        others = [each.text.strip() for each in finals if each is not self.final]
        self.notes += [OTHER_TEXT.format(text=clipped(text, LONGEST_QUOTE)) for text in others if text]

    def _last_texts(self, finals: list[Answer]) -> tuple[Answer | None, Answer | None]:
        # A comment on a notice, after the message was answered, is no answer to the message.
        counted = [answer for answer in finals if self.delivers or not answer.aside] or finals
        speaking = [] if self.one_door else [answer for answer in counted if self._is_heard(answer)]
        # Newer releases send a block while the text streams, before the call beside it runs.
        beside_calls = [answer for answer in self.texts if not self.one_door and answer not in finals]
        heard = [
            each for each in self.texts if each in speaking or (each in beside_calls and self._is_heard(each))
        ]
        return (speaking or counted)[-1] if finals else None, heard[-1] if heard else None

    def _conversation(self) -> list[str]:
        session = self.run.session
        asked = [each for each in self.run.received if not each.is_note]
        names = [each.message.origin for each in asked]
        if session:
            rows = [each.row for each in asked if each.row and each.row.platform_id]
            names += [session.name_of(row.channel, row.platform_id) for row in rows]
            # The agent passes reports of other agents and of the host on to the chat, so that counts as its conversation.
            if not any(names) or any(each.is_of_peer or each.is_note for each in self.run.received):
                names.append(session.name_of(*session.routing))
        return list(dict.fromkeys(name for name in names if name))

    def _is_heard(self, answer: Answer) -> bool:
        return any(self._is_own(part.to) for part in self.parts[answer.id])

    def _is_own(self, name: str) -> bool:
        return not name or not self.own or name in self.own

    def _to(self, row: Outbound) -> str:
        return self.run.session.name_of(row.channel, row.platform_id) if self.run.session else ""

    def _goes_home(self, row: Outbound) -> bool:
        """Return whether a row goes to the conversation. For a run without one (a task), any chat counts."""
        return self._to(row) in self.own if self.own else row.channel != TO_AGENTS

    # What explains what ---------------------------------------------------------------------------------------

    def _without_explanation(self, reading: Reading) -> list[Outbound]:
        """List the unexplained rows. Before, each part of a text without a row takes the next row to its destination."""
        taken = self.explained.ids
        taken |= self._of_other_runs(reading, taken)
        free = [row for row in self.run.outbound if row.id not in taken]
        for answer in self.texts:
            for number, part in enumerate(self.parts[answer.id], 1):
                if (answer.id, number) in self.explained.by_part or self._went_out(part):
                    continue
                # A fork may rewrite messages: then no row has the text, and the next row to the same destination is it.
                if row := next((row for row in free if self._may_be_rewritten(row, part, answer)), None):
                    self.explained.by_part[answer.id, number] = row
                    free.remove(row)
        return free

    def _of_other_runs(self, reading: Reading, taken: set[str]) -> set[str]:
        """Return the ids of free rows that another run explains. Two runs that were under way at once may share rows."""
        others: dict[int, tuple[Run, list[Outbound]]] = {}
        for row, other in self.run.shared:
            if row.id not in taken:
                others.setdefault(id(other), (other, []))[1].append(row)
        found: set[str] = set()
        for other, rows in others.values():
            lines, _ = read_lines(other, reading.source, max_line=reading.max_bytes)
            texts = answers_in(lines)
            found |= _explain(other, lines, _parts(texts, other), texts).ids & {each.id for each in rows}
        return found

    def _may_be_rewritten(self, row: Outbound, part: Part, answer: Answer) -> bool:
        """Return whether a row may be the rewritten part: a later plain message to its destination."""
        fits = self._to(row) == part.to and row.until + CLOCK_SLACK >= answer.last.time
        return fits and not _kind(row) and not row.text.startswith(RUNNER_FAILED)

    def _went_out(self, part: Part) -> bool:
        """Return whether an equal part was sent to the same destination: the runner does not send it again."""
        # A block that went out beside a call is often repeated in the final text.
        for (name, number), row in self.explained.by_part.items():
            if self.parts[name][number - 1] == part and row.text.strip() == part.text:
                return True
        return False

    def _last(self) -> list[_Utterance]:
        """Return the last messages that arrived in the conversation: several if tools sent them."""
        own = self._arrived_utterances()
        at = max((place for place, each in enumerate(own) if each.answer), default=-1)
        later = own[at + 1 :]
        if called := [each for each in later if each.call]:
            return called
        # A fork may send a footer after the answer, which stays the answer. After a text beside a call, more was to come.
        if at >= 0 and (own[at].answer is self.final or not later):
            return own[at : at + 1]
        return later

    def _arrived_utterances(self) -> list[_Utterance]:
        """List the rows that arrived in the conversation by their origin, in the order in which they went out."""
        found: dict[str, _Utterance] = {}
        for (name, _), row in self.explained.by_part.items():
            answer = next(each for each in self.texts if each.id == name)
            found.setdefault(f"text {name}", _Utterance([], answer=answer)).rows.append(row)
        for call, row in self.explained.by_call.items():
            found[f"call {call}"] = _Utterance([row], call=call)
        sent = {row.text.strip() for each in found.values() for row in each.rows}
        for row in self.unexplained:
            if row.text.strip() not in sent:  # a second copy of a message is no new answer
                found[f"row {row.id}"] = _Utterance([row], row=row.id)
        for each in found.values():
            each.rows = list(filter(self._arrived, each.rows))
        return sorted((each for each in found.values() if each.rows), key=lambda each: each.rows[-1].number)

    def _arrived(self, row: Outbound) -> bool:
        return row.state == "delivered" and self._goes_home(row) and row.operation != "reaction"

    # What calls sent ------------------------------------------------------------------------------------------

    def args_of(self, call_id: str, args: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the arguments of a call with the texts that went out, and the agent's own text where it differs."""
        row = self.explained.by_call.get(call_id)
        given = {key: value for key, value in args.items() if isinstance(value, str)}
        shown = {key: row.args[key] for key in given if isinstance(row.args.get(key), str)} if row else {}
        differing = {key: value for key, value in shown.items() if value.strip() != given[key].strip()}
        # An edit or a reaction names another message: its row is no changed version of the call's text.
        if row is None or row.operation or not differing:
            return args, ""
        said = "\n".join(given[key] for key in differing)
        self._note_change(row, said)
        return {**args, **differing}, said

    def sent(self, call_id: str, args: dict[str, Any], answer: str) -> dict[str, Any]:
        """Return the result of a successful send by tool: its text, destination, and delivery."""
        row = self.explained.by_call.get(call_id)
        if row:
            # A runner that routes a message wrongly sends it elsewhere than the call asked: the row knows the place.
            return {"text": answer, **({"to": to} if (to := self._to(row)) else {}), **_proof(row)}
        to = args.get("to") or sent_to(answer) or (self.own[0] if len(self.own) == 1 else "")
        texts = [args.get(key) for key in ("text", "fallbackText", "question", "title")]
        text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
        if text and not self.stored and (to in ("", *self.own) or not self.own):
            self.called[call_id] = text
        return {"text": answer, **({"to": to} if to else {})}

    def not_arrived(self, call: Call) -> dict[str, Any]:
        """Return the known facts of a tool's message that did not arrive; empty for one that did."""
        row = self.explained.by_call.get(call.id)
        # The tool reported success, but the call left no row: nobody got a message.
        if row is None and self.stored and call.tool == OUTBOUND and call.recorded.startswith(OWN_SERVER):
            part = Part(text_of(call.args.get("to")), text_of(call.args.get("text")) or call.recorded)
            self._note_not_sent("call of a tool", part)
            return {"delivered": False, "state": "lost"}
        if row is None or row.state == "delivered":
            return {}
        self._note_state(row)
        return {**({"to": to} if (to := self._to(row)) else {}), **_proof(row)}

    # Events, line by line -------------------------------------------------------------------------------

    def add_sent(self, line: Line) -> None:
        """Add the messages that went out before a line, and those of the line when it completes a text."""
        self._add_unexplained(line.time)
        answer = self.by_last_line.get(id(line))
        if answer is None:
            return
        is_output = answer is self._text_of_output()
        for number, part in enumerate(self.parts[answer.id], 1):
            call_id = f"{answer.id}:{number}"
            if row := self.explained.by_part.get((answer.id, number)):
                # The final output stands for what it delivered; all else is a send of its own.
                if not (is_output and self._arrived(row)):
                    self._send(part, row, answer, call_id)
            elif self.stored:
                self._note_without_row(part, answer)
            elif self.delivers and not (is_output and self._is_own(part.to)):
                self._send_unproven(part, answer, call_id)
        if answer is self._place():
            self._final(answer, line.time)

    def _text_of_output(self) -> Answer | None:
        """Return the text that the final output consists of; None where rows show that tools sent it."""
        if self.last:
            return self.last[0].answer
        return None if self.stored else self.speaker

    def _note_without_row(self, part: Part, answer: Answer) -> None:
        """Note a part without a row, unless an equal part went out: the runner does not send it twice."""
        if not self._went_out(part):
            self._note_not_sent("text beside a call" if answer.calls else FINAL_TEXT, part)

    def end(self) -> None:
        """Add the rest after the last line."""
        self._add_unexplained(None)
        if self.output is None and (self.final or self.last):
            self._final(self.final, max([self.run.ended, *(each.rows[-1].time for each in self.last)]))

    def _place(self) -> Answer | None:
        """Return the text that the final output follows; None for the end of the run."""
        if not self.stored:
            return self.speaker or self.final
        if self.last and self.last[0].answer:
            return self.last[0].answer
        # Tools may send after the last text. The final output then stands at the end of the run, after their calls.
        late = self.last and self.final and self.last[-1].rows[-1].time > self.final.last.time
        return None if late else self.final

    def _add_unexplained(self, until: int | None) -> None:
        """Add the unexplained rows that went out before a time; all of them where it is None."""
        for row in [each for each in self.waiting if until is None or each.until < until]:
            self.waiting.remove(row)
            to = self._to(row)
            self.notes.append(
                UNEXPLAINED.format(to=to or "nobody", text=clipped(row.text, LONGEST_QUOTE) or "(no text)")
            )
            tool = {"edit": "edit_message", "reaction": "add_reaction"}.get(row.operation, OUTBOUND)
            args = {**fitting(row.args), **({"to": to} if to else {})}
            self._add(row, row.id, tool, args, NO_TEXT, row.time)

    def _send(self, part: Part, row: Outbound, answer: Answer, call_id: str) -> None:
        to = self._to(row) or part.to
        args = {"to": to, "text": row.text} if to else {"text": row.text}
        said = "" if row.text.strip() == part.text else part.text
        if said:
            self._note_change(row, said)
        self._add(row, call_id, OUTBOUND, args, FINAL_TEXT, answer.last.time, said)

    def _add(
        self, row: Outbound, call_id: str, tool: str, args: Record, recorded: str, time: int, said: str = ""
    ) -> None:
        call = {"tool": tool, "call_id": call_id, "args": args, "recorded_tool": recorded}
        self.builder.add("tool_call", {**call, **({"said": said} if said else {})}, ts=iso(time))
        arrived = row.state == "delivered"
        result = {"tool": tool, "call_id": call_id, "success": arrived, "result": _proof(row)}
        self.builder.add("tool_result", result, actor="tool", ts=iso(time))
        if not arrived:
            self._note_state(row)

    def _note_not_sent(self, what: str, part: Part) -> None:
        text = clipped(part.text, LONGEST_QUOTE)
        self.notes.append(NOT_SENT.format(what=what, to=part.to or "the conversation", text=text))

    def _note_change(self, row: Outbound, said: str) -> None:
        self.notes.append(CHANGED.format(to=self._to(row) or "nobody", text=clipped(said, LONGEST_QUOTE)))

    def _note_state(self, row: Outbound) -> None:
        note = NOT_ARRIVED[row.state].format(to=self._to(row) or "nobody")
        self.notes += [] if note in self.notes else [note]

    def _send_unproven(self, part: Part, answer: Answer, call_id: str) -> None:
        """Add the send of a part of a text without a row that proves it."""
        later = [each for text in self.texts[self.texts.index(answer) + 1 :] for each in self.parts[text.id]]
        if self.one_door:
            self._note_not_sent(FINAL_TEXT, part)
        elif not (answer.calls and part in later):  # what was sent beside a call is not sent again
            to = part.to or (self.own[0] if self.own else "")
            args = {"to": to, "text": part.text} if to else {"text": part.text}
            call = {"tool": OUTBOUND, "call_id": call_id, "args": args, "recorded_tool": FINAL_TEXT}
            self.builder.add("tool_call", call, ts=iso(answer.last.time))
            result = {"tool": OUTBOUND, "call_id": call_id, "success": True, "result": {}}
            self.builder.add("tool_result", result, actor="tool", ts=iso(answer.last.time))

    # The final output -----------------------------------------------------------------------------------------

    def _final(self, answer: Answer | None, time: int) -> None:
        found = self._proven(answer) if self.stored else self._unproven(answer)
        data: dict[str, Any] = {"role": "assistant", "content": found.pop("content"), **found}
        if answer and answer.text.strip() != data["content"]:
            data["raw"] = answer.text
        ended = self.final if self.final is not answer else None
        # Tasks end with a text without blocks, which goes to a log: there, nothing is missing.
        is_covered = not ended or self.parts[ended.id] or self.one_door
        if ended and not is_covered and self.delivers and parts_of(ended.text, "v1"):
            self.notes.append(OTHER_TEXT.format(text=clipped(ended.text.strip(), LONGEST_QUOTE)))
        if answer and not self.parts[answer.id] and not data["content"] and parts_of(answer.text, "v1"):
            self.notes += [] if self.one_door else [NOT_WRAPPED]
        self.output = TraceMessage(role="assistant", content=data["content"])
        self.builder.add("final_output", data, ts=iso(time))

    def _unproven(self, answer: Answer | None) -> dict[str, Any]:
        """Return the final output by texts and calls, without rows."""
        if answer and answer is self.speaker:
            own = [part for part in self.parts[answer.id] if self._is_own(part.to)]
            names = list(dict.fromkeys(part.to for part in own if part.to)) or self.own
            return {"content": "\n\n".join(part.text for part in own), **_named(names)}
        if self.called:
            return {"content": "\n\n".join(self.called.values()), "sent_by": list(self.called)}
        return {"content": ""}

    def _proven(self, answer: Answer | None) -> dict[str, Any]:
        """Return the final output by the rows: only messages that arrived in the conversation."""
        if not self.last:
            return self._undelivered(answer) if answer else {"content": ""}
        rows = [row for each in self.last for row in each.rows]
        if self.last[0].answer:  # then it is the only one of them
            return {**self._of_rows(rows, rows), "content": "\n\n".join(row.text for row in rows)}
        # `sent_by` names sends, so those without an explanation must be in the trace before it.
        for row in [row for row in rows if row in self.waiting]:
            self._add_unexplained(row.until + 1)
        return {"content": _joined(rows), "sent_by": [each.call or each.row for each in self.last]}

    def _undelivered(self, answer: Answer) -> dict[str, Any]:
        """Return an empty final output, with the text for the conversation that did not arrive there, if any."""
        parts = enumerate(self.parts[answer.id], 1)
        own = [(number, part) for number, part in parts if self._is_own(part.to)]
        if not own:
            return {"content": ""}
        known = (self.explained.by_part.get((answer.id, number)) for number, _ in own)
        rows = [row for row in known if row]
        said = "\n\n".join(part.text for _, part in own)
        names = list(dict.fromkeys(part.to for _, part in own if part.to)) or self.own
        return {"content": "", **_named(names), "said": said, **self._of_rows(rows, []), "delivered": False}

    def _of_rows(self, rows: list[Outbound], arrived: list[Outbound]) -> dict[str, Any]:
        """Return destination and proof of rows, and the agent's own text where another one arrived."""
        if not rows:
            return {}
        names = list(dict.fromkeys(self._to(row) for row in rows)) if self.own else []
        pairs = [(row, key) for key, row in self.explained.by_part.items() if row in arrived]
        said = [self.parts[name][number - 1].text for _, (name, number) in pairs]
        differs = [row for (row, _), text in zip(pairs, said, strict=True) if row.text.strip() != text]
        if differs:
            self._note_change(differs[0], "\n\n".join(said))
        return {**_named(names), **_proof(rows[0]), **({"said": "\n\n".join(said)} if differs else {})}


def _begun_by_tasks(run: Run) -> bool:
    """Return whether only tasks with a current time began the run, as since release 2.2: their texts go to a log."""
    first = [each.message for each in run.received if each.time == run.received[0].time]
    return bool(first) and all(each.kind == "task" and each.now for each in first)


def _parts(texts: list[Answer], run: Run) -> dict[str, list[Part]]:
    """List the parts that each text sends. Older releases of v2 also send texts without a `<message>`; rows show it."""
    parts = {answer.id: parts_of(answer.text, run.generation) for answer in texts}
    if run.outbound_is_stored and not any(parts.values()):
        sent = {row.text.strip() for row in run.outbound if row.in_reply_to}
        parts = {
            answer.id: [each for each in parts_of(answer.text, "v1") if each.text in sent] for answer in texts
        }
    return parts


def _named(names: list[str]) -> dict[str, Any]:
    return {"to": names[0] if len(names) == 1 else names} if names else {}


def _joined(rows: list[Outbound]) -> str:
    """Join the texts of rows as people read them in the end: an edited message with its last text."""
    shown: dict[str, str] = {}
    for row in rows:
        edited = text_of(row.content.get("messageId")) if row.operation == "edit" else ""
        name = next(
            (each.id for each in rows if edited and edited in (each.id, each.platform_message_id)), row.id
        )
        shown[name] = row.text
    return "\n\n".join(text for text in shown.values() if text)


def _proof(row: Outbound) -> dict[str, Any]:
    shown: dict[str, Any] = {"message_id": row.id, "delivered": row.state == "delivered"}
    if row.state != "delivered":
        shown["state"] = row.state
    if row.platform_message_id:
        shown["platform_message_id"] = row.platform_message_id
    return shown
