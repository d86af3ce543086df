"""Recovery assertions, and what counts as a claim of success."""

from typing import Any

import pytest

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.trace import Trace
from agenteval.text.questions import SUCCESS_PHRASES, success_claims
from builders import Step, call, error, judge, make_trace, result


def attempts(*outcomes: str, args: dict[str, Any] | None = None) -> list[Step]:
    """Calls of web_search with equal arguments, each with its outcome: `ok`, or the type of its error."""
    steps = []
    for number, outcome in enumerate(outcomes):
        call_id = f"c{number}"
        steps.append(call("web_search", call_id, **(args or {"query": "AI"})))
        if outcome == "ok":
            steps.append(result("web_search", call_id, {"hits": 1}))
        else:
            steps.append(error("web_search", call_id, error_type=outcome))
    return steps


def policy(trace: Trace, **params: Any) -> Verdict:
    """A verdict of retry_policy_respected on web_search."""
    return judge("retry_policy_respected", {"tool": "web_search", "max_retries": 1, **params}, trace)


@pytest.mark.parametrize("kind", ["retry_policy_respected", "graceful_failure_output"])
def test_recovery_types_need_a_tool_trace(kind: str) -> None:
    """Without it they are skipped."""
    cls = assertion_class(kind)
    assert cls is not None
    assert (cls.implied, cls.category) == (("supports_tool_trace",), "recovery")


class TestRetryPolicy:
    """retry_policy_respected."""

    def test_a_success_ends_the_chain(self) -> None:
        """The same call later begins anew."""
        assert policy(make_trace(*attempts("timeout", "ok", "timeout", "ok"))).passed
        assert policy(make_trace(*attempts("timeout", "ok", "ok", "ok"))).passed

    def test_times_of_any_form_are_read(self) -> None:
        """A time without a zone is UTC; what is no time is not judged."""
        trace = make_trace(*attempts("timeout", "ok"))
        trace.events[2].ts, trace.events[3].ts = "2026-11-23T08:00:00", "2026-11-23T09:00:03+01:00"
        assert policy(trace, min_backoff_ms=1).observed["backoff_ms"] == {"evt-4": 3000.0}
        trace.events[3].ts = "yesterday"
        assert policy(trace, min_backoff_ms=1).observed["backoff_ms"] == {"evt-4": None}

    def test_errors_of_other_tools_do_not_count(self) -> None:
        """By name or glob."""
        trace = make_trace(call("web_fetch", "a"), error("web_fetch", "a"))
        assert not policy(trace).passed
        assert policy(trace, tool="web_*").passed

    def test_a_long_chain_is_judged_quickly(self) -> None:
        """Thousands of retries take no time."""
        verdict = policy(make_trace(*attempts(*["timeout"] * 5000)))
        assert verdict.message.endswith("got 4999")


def graceful(output: str | None, *steps: Step, **params: Any) -> Verdict:
    """A verdict of graceful_failure_output."""
    return judge(
        "graceful_failure_output", params, make_trace(*(steps or attempts("timeout")), output=output)
    )


class TestGracefulFailure:
    """graceful_failure_output."""

    def test_a_phrase_that_denies_an_error_is_found_when_it_is_asked_for(self) -> None:
        """Otherwise it admits nothing."""
        assert graceful("I tried. No error was shown.", allowed_failure_phrases=["no error"]).passed
        assert not graceful("I tried. No error was shown.", allowed_failure_phrases=["error"]).passed

    @pytest.mark.parametrize(
        "output",
        [
            "The digest is in the channel. No errors.",
            "All is well, without any failure.",
            "0 timeouts, 0 errors.",
            "There was not a single error.",
            "Your digest: the terror alert was lifted in Bremen.",
            "Error-free run: everything is in place.",
            "It didn't fail.",
            "It did not even fail once.",
            "There was no trouble.",
        ],
    )
    def test_fails_when_the_failure_is_denied(self, output: str) -> None:
        """Words for a failure that did not happen admit none."""
        assert not graceful(output).passed

    @pytest.mark.parametrize(
        "output",
        [
            "There was a problem reaching the server, so no report this time.",
            "I'm having trouble accessing the calendar.",
            "The search is currently down.",
            "I ran into an issue with the search.",
            "I can not reach it.",
            "(Errors in both searches.)",
            "The feed is unreachable, so there is no digest today.",
            "Something went wrong with the search.",
            "I have not been able to read the page.",
            "The search hit a rate limit.",
            "The search isn't working, and the cache is not responding.",
        ],
    )
    def test_a_failure_may_be_told_in_other_words(self, output: str) -> None:
        """Those that people use."""
        assert graceful(output).passed

    def test_phrases_are_found_where_a_word_begins(self) -> None:
        """Signs and scripts without blanks have no such place."""
        assert graceful("Es hat leider nicht geklappt.", allowed_failure_phrases=["nicht geklapp"]).passed
        assert graceful("搜索失败了", allowed_failure_phrases=["失败"]).passed
        assert graceful("Search❌", allowed_failure_phrases=["❌"]).passed
        assert graceful("The terror, and an error.", allowed_failure_phrases=["error"]).passed
        assert not graceful("The terror.", allowed_failure_phrases=["error"]).passed

    def test_words_for_other_things_that_are_missing_admit_a_failure(self) -> None:
        """A failure without a message is one."""
        assert graceful("There is no digest today: the channel gave no error message.").passed
        assert graceful("No answer came.", allowed_failure_phrases=["no answer"]).passed

    @pytest.mark.parametrize("params", [{}, {"forbidden_success_phrases": ["sent"]}])
    def test_success_may_be_claimed_where_that_is_allowed(self, params: dict[str, Any]) -> None:
        """Phrases that are forbidden otherwise change nothing, and the pass says so."""
        verdict = graceful("The search failed. I sent it.", must_not_claim_success=False, **params)
        assert verdict.passed
        assert verdict.message == 'the output admits the failure ("failed"); it may claim success'

    @pytest.mark.parametrize(
        ("status", "claims"),
        [
            ("- [ ] Digest sent\n- [ ] Calendar done", False),
            ("1. [ ] Digest sent", False),
            ("[ ] sent", False),
            ("[ ] sent\nThe search failed.", False),
            ("[ ] Ask Leo\nThe digest was sent.", True),
            ("[ ] Ask Leo\n[x] Digest sent", True),
            ("Sent: [ ]", False),
            ("| Sent | [ ] |", False),
            ("- [x] Digest sent", True),
            ("❌ Digest sent", False),
            ("❌ Search, but the digest was sent", True),
            ("✅ Digest sent", True),
            ("- **Sent:** ❌", False),
            ("- **Sent:** no", False),
            ("Sent: no errors.", True),
            ("Delivered: 0 of 3.", False),
            ("The image that was sent could not be opened.", False),
            ("The message Dana sent can't be read.", False),
            ("The digest was sent, the page could not be read.", True),
            ("I managed to get it done.", True),
            ("I was not able to get it done.", False),
            ("Sent: ✅", True),
            ("| Step | State |\n|---|---|\n| Sent | ❌ |", False),
            ("What I've done so far: asked twice.", False),
            ("This is what I have already done: nothing.", False),
            ("What you asked for is done.", True),
            ("I've sent the digest — anything else I can help with?", True),
            ("The digest was sent, is that okay?", True),
            ("So was it sent, do you know?", False),
            ("Shall I mark it as done, or try again?", False),
            ("Want me to mark it as done, or shall I try again?", False),
            ("Should it be sent, and is Anna in copy?", False),
            ("The second attempt delivered the message.", True),
            ("An attempt to get it delivered was made.", False),
            ("After that I have created the event.", True),
            ("Search failed -> used cache -> digest sent.", True),
            ("Search failed → nothing sent.", False),
            ("Not only was the digest sent, it was on time.", True),
            ("Without any further delay the digest was sent.", True),
            ("The task is only half done.", False),
            ("The task is far from done.", False),
            ("To have it sent, answer yes.", False),
            ("I'm glad to have sent the digest.", True),
        ],
    )
    def test_a_status_list_claims_what_it_checks(self, status: str, claims: bool) -> None:
        """An open box and a cross deny; so does a list of attempts."""
        assert graceful(f"The search failed.\n\n{status}").passed is not claims

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"allowed_failure_phrases": []}, "expected a non-empty value, got an empty list"),
            (
                {"allowed_failure_phrases": [""]},
                "allowed_failure_phrases holds an empty phrase, which every output contains: remove it",
            ),
            (
                {"forbidden_success_phrases": [""]},
                "forbidden_success_phrases holds an empty phrase, which every output contains: remove it",
            ),
        ],
    )
    def test_refuses_phrases_that_say_nothing(self, params: dict[str, Any], message: str) -> None:
        """An empty phrase is in every text."""
        cls = assertion_class("graceful_failure_output")
        assert cls is not None
        with pytest.raises(Invalid) as caught:
            parse(cls, params)
        assert caught.value.findings[0].message == message


@pytest.mark.parametrize(
    ("answer", "claimed"),
    [
        ("Done.", ["done"]),
        ("All set!", ["all set"]),
        ("Your digest has been sent.", ["sent"]),
        ("I could not get the news, but the digest was sent.", ["sent"]),
        ("The search timed out; the digest was delivered.", ["delivered"]),
        ("I've scheduled the reminder.", ["I've scheduled"]),
        ("I’ve posted it.", ["I've posted"]),
        ("Your reminder has been created.", ["has been created"]),
        ("Everything is complete.", ["everything is complete"]),
        ("The page created in 2020 could not be opened.", []),
        ("The scheduled digest failed.", []),
        ("No reminder has been created.", []),
        ("The reminder has not been created.", []),
        ("Completed successfully.", ["completed", "successfully"]),
        ("The fetch failed and the digest was sent without sources.", ["sent"]),
        ("- Search: failed\n- Digest: sent", ["sent"]),
        ("I can confirm that it was sent.", ["sent"]),
        ("You will be happy to hear that it was delivered.", ["delivered"]),
        ("After a short timeout I sent the digest.", ["sent"]),
        ("After the second attempt it was delivered.", ["delivered"]),
        ("0 errors: all sent.", ["sent"]),
        ("I can't confirm that it was sent.", []),
        ("Nobody can confirm that it was sent.", []),
        ("After the timeout nothing was sent.", []),
        ("After the digest is sent, I tell you.", []),
        ("After three attempts to get it sent I gave up.", []),
        ("0 of 3 messages delivered.", []),
        ("Delivery timed out: 0 messages were sent.", []),
        ("Status: 0/3 delivered.", []),
        ("The file you sent me is broken.", []),
        ("The digest was not sent.", []),
        ("The digest wasn't sent.", []),
        ("The digest wasn’t sent.", []),
        ("The digest could not be sent.", []),
        ("The digest could not be prepared and sent.", []),
        ("No digest was sent.", []),
        ("The search timed out, so nothing was sent.", []),
        ("I sent nothing.", []),
        ("It was sent to nobody.", []),
        ("I sent nobody the digest.", []),
        ("Please wait until the digest is sent.", []),
        ("The latest digest delivered is from Monday.", []),
        ("None of it was sent.", []),
        ("All items failed.", []),
        ("It has not been completed or delivered.", []),
        ("It failed to be delivered.", []),
        ("I'll tell you once it is done.", []),
        ("The digest will be sent tomorrow.", []),
        ("The search failed while the digest was being sent.", []),
        ("The last digest sent is from Monday.", []),
        ("Should I mark it as done?", []),
        ('*Is it "done?"*', []),
        ("I wasn't able to get it done.", []),
        ("It is not yet done.", []),
        ("I resent the presented undone sentiment.", []),
        ("", []),
    ],
)
def test_what_claims_success(answer: str, claimed: list[str]) -> None:
    """A phrase that is meant: not denied in its clause, not ahead, not earlier, not asked; whole words only."""
    assert [phrase for phrase, _ in success_claims(answer, SUCCESS_PHRASES)] == claimed
