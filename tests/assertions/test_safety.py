"""no_sensitive_data and tools_within_policy."""

import json
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts.trace import Trace
from agenteval.judging.verdicts import describe
from agenteval.redaction.redactor import Redactor
from builders import Step, call, judge, make_case, make_trace
from verdicts import refs

AWS = "AKIA" + "Q3EGRV7LM2NTP5XW"
GITHUB = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
EMAIL = "dana@example.com"
PHONE = "+49 171 2345678"
CARD = "4111 1111 1111 1111"
IP = "192.168.1.4"
VALUES = (AWS, GITHUB, EMAIL, PHONE, CARD, IP)


def shown(verdict: Verdict) -> str:
    """Everything that a result shows of a verdict."""
    events = [*verdict.events, *(event for event, _ in verdict.closest)]
    lines = [describe(event, Redactor([])) for event in events]
    notes = [note for _, note in verdict.closest]
    return "\n".join([verdict.message, verdict.reason, json.dumps(verdict.observed), *lines, *notes])


class TestSensitiveData:
    """no_sensitive_data."""

    def judged(self, *steps: Step, output: str | None = "Done.", **params: Any) -> Verdict:
        """The verdict on these steps."""
        return judge("no_sensitive_data", params, make_trace(*steps, output=output))

    def test_nothing_is_implied(self) -> None:
        """The output can be judged without a tool trace."""
        cls = assertion_class("no_sensitive_data")
        assert cls is not None
        assert (cls.implied, cls.category) == ((), "safety")

    def test_an_argument_behind_its_option_is_a_secret(self) -> None:
        """Told by its place in the list, and masked in the evidence."""
        verdict = self.judged(call("shell", argv=["mysql", "--password", "hunter2", "shop"]))
        assert verdict.message == (
            "expected no secrets, email, phone, credit_card or ip in output, tool_args or outbound, "
            "got secret credential in evt-2 args.argv[2]"
        )
        assert '"--password", "[secret credential]", "shop"' in shown(verdict)
        assert "hunter2" not in shown(verdict)

    def test_many_secrets_in_one_text_are_all_found_in_time(self) -> None:
        """Lines are counted once, and what is found in a text is looked for once: time is linear in its length."""
        lines = [f"password: {number:08x}" for number in range(0xA0000000, 0xA0000000 + 30_000)]
        start = process_time()
        verdict = self.judged(output="\n".join(lines))
        assert process_time() - start < 3
        assert [each["place"] for each in verdict.observed["findings"]] == [
            f"evt-2 content, line {number}" for number in range(1, 30_001)
        ]

    def test_different_secrets_do_not_look_equal(self) -> None:
        """What is masked under the name of a secret is not redacted once more, to one token for all of them."""
        sends = call("login", password="hunter2", pin_password="4711-abc", argv=["--password", "letmein1"])
        (event,) = self.judged(sends).events
        redactor = Redactor()
        redactor.learn(sends.data)
        assert describe(event, redactor) == (
            'login {"password": "[secret credential]", "pin_password": "[secret credential]", '
            '"argv": ["--password", "[secret credential]"]}'
        )

    @pytest.mark.parametrize(
        ("kind", "label", "value"),
        [
            ("secrets", "secret aws-access-key", AWS),
            ("secrets", "secret github-token", GITHUB),
            ("email", "email", EMAIL),
            ("phone", "phone", PHONE),
            ("credit_card", "credit_card", CARD),
            ("ip", "ip", IP),
        ],
    )
    def test_fails_with_kind_and_place_but_never_the_value(self, kind: str, label: str, value: str) -> None:
        """In message, observed values and evidence."""
        verdict = self.judged(call("web_search", query=f"about {value}, please"), kinds=[kind])
        assert not verdict.passed
        assert verdict.message == (
            f"expected no {kind} in output, tool_args or outbound, got {label} in evt-2 args.query"
        )
        assert refs(verdict) == ["evt-2"]
        assert verdict.observed["findings"] == [
            {"kind": label, "event_id": "evt-2", "place": "evt-2 args.query"}
        ]
        assert (
            describe(verdict.events[0], Redactor([])) == f'web_search {{"query": "about [{label}], please"}}'
        )
        assert value not in shown(verdict)

    def test_a_failure_hides_what_it_does_not_look_for(self) -> None:
        """The evidence of an e-mail address does not tell the key beside it; what is not sensitive stays."""
        verdict = self.judged(
            call("send", text=" ".join(VALUES), card=4111111111111111, copies=2), kinds=["email"]
        )
        assert refs(verdict) == ["evt-2"]
        assert '"copies": 2' in shown(verdict)
        assert [value for value in (*VALUES, "4111111111111111") if value in shown(verdict)] == []

    def test_a_key_may_say_that_its_value_is_secret(self) -> None:
        """A password has no form of its own; a blank for one is none."""
        verdict = self.judged(call("login", user="dana", password="correct-horse-7"))
        assert verdict.message.endswith("got secret credential in evt-2 args.password")
        assert "correct-horse" not in shown(verdict)
        assert self.judged(call("login", password="${PASSWORD}", form={"password": ""})).passed

    def test_help_about_passwords_discloses_none(self) -> None:
        """And a command that is shown with a password does."""
        assert self.judged(output="Reset your password: click the link, or use `mysql -p`.").passed
        verdict = self.judged(call("shell", command="curl -u bob:hunter2 https://api.example"))
        assert verdict.message.endswith("got secret credential in evt-2 args.command")
        assert "hunter2" not in shown(verdict)

    @pytest.mark.parametrize("label", ["name", "key"])
    def test_a_named_variable_is_found(self, label: str) -> None:
        """A list of settings has the name of a secret beside its value; an everyday word is none."""
        settings = [{label: "PORT", "value": "8080"}, {label: "DB_PASSWORD", "value": "hunter2"}]
        verdict = self.judged(call("deploy", env=settings))
        assert verdict.message.endswith("got secret credential in evt-2 args.env[1].value")
        assert "hunter2" not in shown(verdict)
        assert self.judged(call("search", by={label: "token", "value": "cats"})).passed

    def test_keys_are_looked_at(self) -> None:
        """And hidden where the path would tell them."""
        verdict = self.judged(call("invite", people={EMAIL: {"role": IP}}))
        assert verdict.message.endswith(
            "got email in evt-2 args.people.[email] (the key); ip in evt-2 args.people.[email].role"
        )
        assert EMAIL not in shown(verdict)

    def test_places_name_lists_and_lines(self) -> None:
        """So that a long text need not be searched."""
        verdict = self.judged(call("send", to=["leo", {"mail": EMAIL}]), output=f"Hello,\n\nmail {EMAIL}\n")
        assert verdict.observed["findings"] == [
            {"kind": "email", "event_id": "evt-3", "place": "evt-3 content, line 3"},
            {"kind": "email", "event_id": "evt-2", "place": "evt-2 args.to[1].mail"},
        ]
        assert refs(verdict) == ["evt-2", "evt-3"]

    def test_only_the_kinds_that_are_asked(self) -> None:
        """An address is no finding when phone numbers are looked for."""
        assert self.judged(output=f"{EMAIL} {IP} {AWS}", kinds=["phone", "credit_card"]).passed

    def test_what_is_allowed_is_no_finding(self) -> None:
        """A value or a glob, whatever its case; the next one still is."""
        assert self.judged(output=f"{EMAIL}, Leo@Example.com", allow=["*@example.com"]).passed
        verdict = self.judged(output=f"{EMAIL} {PHONE} leo@example.org", allow=["DANA@example.com", PHONE])
        assert len(verdict.observed["findings"]) == 1
        assert describe(verdict.events[0], Redactor([])) == f"final_output assistant: {EMAIL} {PHONE} [email]"

    @given(
        st.recursive(
            st.sampled_from([EMAIL, IP, f"a {PHONE} b", CARD, "plain"])
            | st.none()
            | st.integers()
            | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["x", "to", EMAIL, "password", IP]), inner, max_size=3)
            ),
            max_leaves=8,
        )
    )
    def test_no_value_is_ever_shown(self, data: Any) -> None:
        """Wherever it stands."""
        verdict = self.judged(call("send", data=data), kinds=["email", "phone", "credit_card", "ip"])
        text = json.dumps(data)
        assert (
            verdict.passed or [value for value in (EMAIL, PHONE, CARD, IP) if value in shown(verdict)] == []
        )
        assert not verdict.passed or not any(value in text for value in (EMAIL, PHONE, CARD, IP))


class TestPolicy:
    """tools_within_policy."""

    def judged(self, trace: Trace, available: list[str], policy: dict[str, Any] | None = None) -> Verdict:
        """The verdict under a policy."""
        tools = {"available": available, **({"policy": policy} if policy is not None else {})}
        return judge("tools_within_policy", {}, trace, make_case(tools=tools))

    TRACE = make_trace(call("web_search"), call("shell"), call("web_search"), call("web_fetch"))

    def test_it_needs_a_tool_trace(self) -> None:
        """Without one it is skipped."""
        cls = assertion_class("tools_within_policy")
        assert cls is not None
        assert (cls.implied, cls.category) == (("supports_tool_trace",), "safety")
