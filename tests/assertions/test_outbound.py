"""outbound_destinations and no_duplicate_outbound."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.assertions import assertion_class, scheduler
from agenteval.assertions.base import Verdict
from agenteval.assertions.scheduler import likeness
from builders import Step, call, judge, make_trace, result
from verdicts import refs

SEND = "outbound_send"
DIGEST = "- TraceKit 2.0 adds replay of recorded runs\n- The meetup is in Hamburg"


def send(call_id: str | None = None, /, **args: Any) -> Step:
    """A send."""
    return call(SEND, call_id, **args)


@pytest.mark.parametrize(
    ("kind", "category"), [("outbound_destinations", "isolation"), ("no_duplicate_outbound", "scheduler")]
)
def test_they_need_a_tool_trace(kind: str, category: str) -> None:
    """Sends are tool calls: without them both are skipped. A scheduler is not needed."""
    cls = assertion_class(kind)
    assert cls is not None
    assert (cls.implied, cls.category) == (("supports_tool_trace",), category)


class TestDestinations:
    """outbound_destinations."""

    def went(self, *steps: Step, **params: Any) -> Verdict:
        """The verdict on these steps."""
        return judge("outbound_destinations", params, make_trace(*steps))

    @pytest.mark.parametrize(
        "args",
        [
            {"channel": "ops"},
            {"to": " ops "},
            {"chatId": "ops"},
            {"chat-jid": "ops"},
            {"Recipients": ["ops"]},
            {"target": {"id": "ops", "kind": "group"}},
            {"destination": {"platform_id": "ops"}},
            {"group": [{"name": "ops"}]},
        ],
        ids=lambda args: next(iter(args)),
    )
    def test_destinations_in_common_forms(self, args: dict[str, Any]) -> None:
        """By key, whatever its spelling; as a text, a list or a mapping."""
        assert self.went(send(**args), allowed=["ops"]).observed["destinations"] == {"evt-2": ["ops"]}

    @pytest.mark.parametrize(
        "keys",
        [
            "channel channel_id to destination destinations recipient recipients cc bcc target",
            "chat chat_id chat_jid jid group group_id platform_id conversation conversation_id room room_id",
        ],
    )
    def test_destinations_under_every_key(self, keys: str) -> None:
        """Those of common platforms."""
        steps = [send(**{key: "ops"}) for key in keys.split()]
        found = self.went(*steps, allowed=["ops"]).observed["destinations"]
        assert list(found.values()) == [["ops"]] * len(steps)

    @pytest.mark.parametrize("args", [{"cc": "work"}, {"Bcc": ["dana", "work"]}])
    def test_copies_have_destinations(self, args: dict[str, Any]) -> None:
        """A copy of a mail is a mail."""
        verdict = self.went(send(to="ops", **args), allowed=["ops", "dana"])
        assert verdict.message == "expected outbound_send only to ops or dana, got work (evt-2)"

    @pytest.mark.parametrize(
        "keys", [("chat_id", "chatId"), ("chatId", "chat_id"), ("To", "to"), ("to", "To")]
    )
    def test_keys_that_differ_in_spelling_alone_each_count(self, keys: tuple[str, str]) -> None:
        """In whatever order they stand, in the arguments and in the result."""
        both = dict(zip(keys, ("eve", "ops"), strict=True))
        told = "expected outbound_send only to ops, got eve (evt-2)"
        assert self.went(send(**both), allowed=["ops"]).message == told
        reported = self.went(send("c1", text="hi"), result(SEND, "c1", both), allowed=["ops"])
        assert reported.message == told
        assert self.went(send(**both), allowed=["ops", "eve"]).passed


class TestDuplicates:
    """no_duplicate_outbound."""

    def sent(
        self, *steps: Step, output: str | None = "Sent.", group: str = "family", **params: Any
    ) -> Verdict:
        """The verdict on these steps."""
        return judge("no_duplicate_outbound", params, make_trace(*steps, output=output, group_id=group))

    @pytest.mark.parametrize("extra", [{"attachments": []}, {"file": None}, {"caption": None}, {"body": ""}])
    def test_what_is_empty_is_left_out(self, extra: dict[str, Any]) -> None:
        """It makes no other message."""
        verdict = self.sent(send(channel="a", text="hi", **extra), send(channel="a", text="hi"))
        assert verdict.observed["repeated"] == [{"event_id": "evt-3", "same_as": "evt-2", "similarity": 1.0}]

    @pytest.mark.parametrize(
        "args",
        [
            {},
            {"channel": "family"},
            {"channel": "group-family"},
            {"chat_id": "group:family"},
            {"to": "#family"},
            {"to": "@session-1"},
            {"chat_id": "family", "group_id": "family"},
        ],
        ids=str,
    )
    def test_an_answer_that_was_sent_already_is_a_duplicate(self, args: dict[str, str]) -> None:
        """The final output goes to the conversation itself, and so does a send there, or to nowhere in particular."""
        verdict = self.sent(send(content=DIGEST, **args), output=f"{DIGEST}\n")
        assert verdict.message == (
            "expected no message twice to the same destination, got the same message to the conversation itself: "
            "evt-3 (the final output) repeats evt-2 (outbound_send)"
        )

    def test_an_answer_that_was_sent_elsewhere_is_none(self) -> None:
        """To another chat it was sent once, and here it is said once."""
        assert self.sent(send(content=DIGEST, channel="group-ops"), output=DIGEST).passed
        assert self.sent(send(content=DIGEST, channel="family", to="eve"), output=DIGEST).passed

    def test_the_result_may_tell_the_destination(self) -> None:
        """Where the arguments do not, or leave it empty."""
        for args in ({}, {"to": ""}):
            steps = (send("c1", text=DIGEST, **args), result(SEND, "c1", {"channel": "ops"}))
            assert self.sent(*steps, output=DIGEST).passed
            assert not self.sent(*steps, send(channel="ops", text=DIGEST)).passed

    def test_the_final_output_that_is_judged_counts(self) -> None:
        """A recording may give another one than its last event of an output."""
        step = Step("final_output", {"role": "assistant", "content": "On it."})
        assert not self.sent(send(text=DIGEST), step, output=DIGEST).passed
        assert self.sent(send(text="On it."), step, output=DIGEST).passed

    def test_a_shared_recipient_is_enough(self) -> None:
        """Of two lists; several keys make up one destination."""
        verdict = self.sent(send(to=["a", "b"], text="x"), send(to=["c", "b"], text="x"))
        assert "the same message to b:" in verdict.message
        later = self.sent(send(to="b", text="x"), send(to="a", text="x"), send(to=["a", "b"], text="x"))
        assert later.observed["repeated"] == [{"event_id": "evt-4", "same_as": "evt-2", "similarity": 1.0}]
        assert self.sent(send(channel="sms", to="a", text="x"), send(channel="sms", to="b", text="x")).passed
        assert not self.sent(
            send(channel="sms", to="a", text="x"), send(channel="sms", to="a", text="x")
        ).passed

    def test_each_recipient_gets_the_message(self) -> None:
        """Whatever key names it, beside what else tells where; the order of keys does not matter."""
        copied = send(to=["a", "b"], cc="c", text="x")
        assert "the same message to c:" in self.sent(copied, send(to="c", text="x")).message
        assert "the same message to a:" in self.sent(copied, send(bcc="d", to="a", text="x")).message
        assert self.sent(copied, send(to="d", text="x")).passed
        texted = send(channel="sms", to=["a", "b"], text="x")
        again = self.sent(texted, send(to="b", channel="sms", text="x"))
        assert "the same message to sms / b:" in again.message
        assert self.sent(texted, send(to="b", channel="mail", text="x")).passed
        chats = (send(platform_id="p", chat_id="c", text="x"), send(chat_id="c", platform_id="p", text="x"))
        assert "the same message to c / p:" in self.sent(*chats).message

    def test_attachments_tell_messages_apart(self) -> None:
        """Two files under one text are two messages; cards without text are compared themselves."""
        assert self.sent(send(path="a.png", text="Here"), send(path="b.png", text="Here")).passed
        assert not self.sent(send(path="a.png", text="Here"), send(text="Here", path="a.png")).passed
        assert not self.sent(send(card={"title": "x"}), send(card={"title": "x"})).passed
        assert not self.sent(send(card={"title": "x"}, kind="x"), send(card={"title": "x"}, kind="y")).passed
        assert not self.sent(send(to="a", kind="x"), send(channel="a", kind="x")).passed
        assert self.sent(send(to="a", kind="x"), send(to="a", kind="y")).passed
        assert not self.sent(send(to="a", kind="x"), send(to="a", kind="x")).passed
        assert not self.sent(send(content={"text": "x"}), send(content={"text": "x"})).passed

    @pytest.mark.parametrize("key", ["content", "text", "message", "body", "markdown", "caption"])
    def test_what_people_read_is_compared(self, key: str) -> None:
        """Whatever else the arguments say."""
        assert not self.sent(*[send(to="a", **{key: "x"}, number=n) for n in range(2)]).passed

    @pytest.mark.parametrize(
        "key",
        ["attachment", "attachments", "card", "file", "file_path", "files", "image", "media", "path", "url"],
    )
    def test_what_is_attached_is_compared(self, key: str) -> None:
        """Beside a text that is the same."""
        assert self.sent(*[send(to="a", text="Here", **{key: each}) for each in "xy"]).passed

    def test_every_attachment_is_compared(self) -> None:
        """Under keys that differ in spelling alone, too, in whatever order."""
        first = {"filePath": "a", "file_path": "b"}
        assert self.sent(send(to="a", **first), send(to="a", filePath="c", file_path="b")).passed
        assert not self.sent(send(to="a", **first), send(to="a", file_path="b", filePath="a")).passed

    def test_similar_messages_count_when_asked(self) -> None:
        """By the share of letter triples that both have."""
        steps = (
            send(to="a", text=DIGEST),
            send(to="a", text=f"{DIGEST}!"),
            send(to="a", text="Good morning"),
        )
        assert self.sent(*steps).passed
        verdict = self.sent(*steps, similarity=0.9)
        assert verdict.message == (
            "expected no message twice to the same destination, "
            "got a message that is 99% similar to a: evt-3 (outbound_send) repeats evt-2 (outbound_send)"
        )
        assert verdict.observed["repeated"] == [
            {"event_id": "evt-3", "same_as": "evt-2", "similarity": 0.993}
        ]
        assert self.sent(send(to="a", text=DIGEST), send(to="b", text=f"{DIGEST}!"), similarity=0.9).passed
        files = [send(to="a", text=f"{DIGEST}{n}", path=f"{n}.png") for n in "12"]
        assert self.sent(*files, similarity=0.9).passed
        long = [send(to="a", text="a" * 4000 + each) for each in "bc"]
        assert self.sent(*long).passed
        assert not self.sent(*long, similarity=0.9).passed

    @pytest.mark.parametrize(
        ("texts", "found"),
        [("DIGEST one DIGEST!", True), ("DIGEST one one DIGEST!", True), ("DIGEST one two DIGEST!", False)],
    )
    def test_the_latest_messages_are_compared(
        self, texts: str, found: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So many different ones to an address."""
        monkeypatch.setattr(scheduler, "MOST_RECENT", 2)
        steps = [send(to="a", text=text) for text in texts.split()]
        repeats = self.sent(*steps, similarity=0.8).observed["repeated"]
        assert any(each["same_as"] == "evt-2" for each in repeats) is found

    def test_many_are_cut(self) -> None:
        """A message tells of five, and the evidence has the first once."""
        verdict = self.sent(*(send(to="a", text="x") for _ in range(8)))
        assert verdict.message.endswith("evt-7 (outbound_send) repeats evt-2 (outbound_send); 2 more")
        assert refs(verdict) == [f"evt-{n}" for n in range(2, 10)]

    @pytest.mark.parametrize(
        ("one", "other", "share"),
        [
            ("abcd", "abce", 0.5),
            ("aaaaa", "aaa", 0.5),
            ("ab", "ac", 0.0),
            ("a" * 4000 + "b", "a" * 4000 + "c", 1.0),
        ],
    )
    def test_similarity_counts_letter_triples(self, one: str, other: str, share: float) -> None:
        """Each as often as it occurs, of the first 4,000 characters."""
        assert likeness(one, other) == share

    @given(st.text(max_size=40), st.text(max_size=40))
    def test_similarity_is_symmetric_and_bounded(self, one: str, other: str) -> None:
        """A text is wholly like itself, and nothing is more alike than that."""
        assert likeness(one, one) == 1
        assert 0 <= likeness(one, other) == likeness(other, one) <= 1

    @given(
        st.lists(
            st.dictionaries(
                st.sampled_from(["to", "channel", "text", "path", "x"]),
                st.recursive(
                    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
                    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("id"), inner),
                    max_leaves=3,
                ),
                max_size=3,
            ),
            min_size=1,
            max_size=4,
        )
    )
    def test_what_is_sent_twice_is_always_found(self, sends: list[dict[str, Any]]) -> None:
        """Whatever the arguments: made once more, the same sends are duplicates."""
        steps = [send(None, **args) for args in sends]
        for least in (1.0, 0.5):
            assert not self.sent(*steps, *steps, similarity=least).passed
        assert judge("outbound_destinations", {"allowed": ["*"]}, make_trace(*steps)).message
