"""Recovery assertions, and what counts as a claim of success."""

from typing import Any

import pytest

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.trace import Trace
from agenteval.text.questions import SUCCESS_PHRASES, success_claims
from builders import Step, call, error, judge, make_trace, result
from verdicts import closest, refs


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

    def test_passes_within_the_policy(self) -> None:
        """The failed call and its retry are evidence."""
        verdict = policy(make_trace(*attempts("timeout", "ok")), retry_on_error_types=["timeout"])
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == "1 failure of web_search, 1 retry, at most 1 for each allowed"
        assert refs(verdict) == ["evt-2", "evt-4"]
        assert verdict.observed == {
            "calls": 2,
            "failed_calls": 1,
            "retries": {"evt-4": 1},
            "error_types": {"evt-2": ["timeout"]},
        }

    def test_an_error_without_its_call_is_a_failure(self) -> None:
        """The recording may hold what came of a call alone."""
        verdict = policy(make_trace(error("web_search", "gone")))
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == "1 failure of web_search, 0 retries, at most 1 for each allowed"

    def test_passes_without_any_retry(self) -> None:
        """A failure need not be retried."""
        verdict = policy(make_trace(*attempts("timeout")), max_retries=0)
        assert verdict.message == "1 failure of web_search, 0 retries, at most 0 for each allowed"
        assert verdict.passed

    def test_fails_with_too_many_retries(self) -> None:
        """Every failure and every retry of the chain is evidence."""
        verdict = policy(make_trace(*attempts("timeout", "timeout", "timeout", "ok")))
        assert not verdict.passed
        assert verdict.message == ("expected at most 1 retry of web_search after its failure (evt-2), got 3")
        assert refs(verdict) == ["evt-3", "evt-4", "evt-5", "evt-6", "evt-7", "evt-8"]
        assert verdict.observed["retries"] == {"evt-4": 1, "evt-6": 2, "evt-8": 3}

    def test_a_success_ends_the_chain(self) -> None:
        """The same call later begins anew."""
        assert policy(make_trace(*attempts("timeout", "ok", "timeout", "ok"))).passed
        assert policy(make_trace(*attempts("timeout", "ok", "ok", "ok"))).passed

    def test_each_chain_counts_for_itself(self) -> None:
        """Two that are too long are both told."""
        steps = [*attempts("timeout", "timeout", "timeout")]
        other = [call("web_search", f"d{n}", query="ML") for n in range(3)]
        failing = [step for n, each in enumerate(other) for step in (each, error("web_search", f"d{n}"))]
        verdict = policy(make_trace(*steps, *failing))
        assert verdict.message == (
            "expected at most 1 retry of web_search after its failure (evt-2), got 2; "
            "expected at most 1 retry of web_search after its failure (evt-8), got 2"
        )

    def test_other_arguments_are_no_retry_unless_ignored(self) -> None:
        """An argument that changes each time hides the retry."""
        steps = [
            step
            for n in range(3)
            for step in (
                call("web_search", f"c{n}", query="AI", nonce=n),
                error("web_search", f"c{n}"),
            )
        ]
        assert policy(make_trace(*steps)).observed["retries"] == {}
        assert not policy(make_trace(*steps), ignore_args=["nonce"]).passed

    def test_a_failed_result_is_a_failure_too(self) -> None:
        """Its type may be in the result."""
        trace = make_trace(
            call("web_search", "a", query="AI"),
            result("web_search", "a", {"error_type": "http_404"}, success=False),
            call("web_search", "b", query="AI"),
            result("web_search", "b"),
        )
        assert policy(trace).passed
        verdict = policy(trace, retry_on_error_types=["timeout"])
        assert verdict.message == (
            "expected retries of web_search only after errors of timeout, got evt-4 after http_404 (evt-2)"
        )
        assert refs(verdict) == ["evt-3", "evt-4"]

    def test_an_error_of_another_type_may_happen_but_not_be_retried(self) -> None:
        """And where no error tells its type, the pass is vacuous."""
        assert policy(make_trace(*attempts("auth")), retry_on_error_types=["timeout"]).passed
        assert not policy(make_trace(*attempts("auth", "ok")), retry_on_error_types=["timeout"]).passed
        none_allowed = policy(make_trace(*attempts("timeout", "ok")), retry_on_error_types=[])
        assert none_allowed.message == (
            "expected retries of web_search only after errors of no type, got evt-4 after timeout (evt-2)"
        )
        untold = make_trace(
            call("web_search", "a"), result("web_search", "a", success=False), call("web_search", "b")
        )
        verdict = policy(untold, retry_on_error_types=["timeout"])
        assert (verdict.passed, verdict.exercised) == (True, False)
        assert verdict.reason == "the reason of evt-4 was not judged: the failure has no type"
        assert verdict.message == (
            "1 failure of web_search, 1 retry, at most 1 for each allowed; "
            "the reason of evt-4 was not judged: the failure has no type"
        )
        assert policy(untold).message == "1 failure of web_search, 1 retry, at most 1 for each allowed"

    def test_calls_side_by_side_are_no_retries(self) -> None:
        """The failure was not known when the second was made."""
        trace = make_trace(
            call("web_search", "a", query="AI"),
            call("web_search", "b", query="AI"),
            error("web_search", "a"),
            error("web_search", "b"),
            call("web_search", "c", query="AI"),
        )
        assert policy(trace).observed["retries"] == {"evt-6": 1}

    def test_retries_side_by_side_are_one_each(self) -> None:
        """The success of the first ends nothing that began before it."""
        steps = [
            *attempts("timeout"),
            call("web_search", "b", query="AI"),
            call("web_search", "c", query="AI"),
            result("web_search", "b"),
            result("web_search", "c"),
            call("web_search", "d", query="AI"),
        ]
        verdict = policy(make_trace(*steps))
        assert verdict.message == "expected at most 1 retry of web_search after its failure (evt-2), got 2"
        assert verdict.observed["retries"] == {"evt-4": 1, "evt-5": 2}

    def test_a_retry_follows_the_failure_that_was_known(self) -> None:
        """What a call side by side with it came to later, decides neither its reason nor its pause."""
        at = "2026-01-01T00:00:0"
        steps = [
            *attempts("timeout"),
            call("web_search", "b", query="AI"),
            call("web_search", "c", query="AI"),
        ]
        steps += [error("web_search", "b", error_type="auth"), error("web_search", "c")]
        for second, step in enumerate(steps):
            step.extra["ts"] = f"{at}{second}Z"
        verdict = policy(
            make_trace(*steps), max_retries=2, retry_on_error_types=["timeout"], min_backoff_ms=1000
        )
        assert verdict.passed
        assert verdict.observed["backoff_ms"] == {"evt-4": 1000, "evt-5": 2000}

    def test_the_pause_before_a_retry_is_judged(self) -> None:
        """From the failure to the call."""
        trace = make_trace(*attempts("timeout", "ok"))
        for event, ts in zip(trace.events[1:4], ("08:00:00Z", "08:00:10Z", "08:00:10.500Z"), strict=True):
            event.ts = f"2026-11-23T{ts}"
        assert policy(trace, min_backoff_ms=500).passed
        verdict = policy(trace, min_backoff_ms=1000)
        assert not verdict.passed
        assert verdict.message == (
            "expected a pause of at least 1000 ms before a retry of web_search, got 500 ms before evt-4"
        )
        assert verdict.observed["backoff_ms"] == {"evt-4": 500.0}

    def test_the_pause_is_not_judged_without_times(self) -> None:
        """Times made up by the adapter prove nothing: the pass is vacuous, though the number of retries is judged."""
        verdict = policy(make_trace(*attempts("timeout", "ok")), min_backoff_ms=1000)
        assert (verdict.passed, verdict.exercised) == (True, False)
        assert verdict.reason == "the pause before evt-4 was not judged: the recording has no times"
        assert verdict.message == (
            "1 failure of web_search, 1 retry, at most 1 for each allowed; "
            "the pause before evt-4 was not judged: the recording has no times"
        )
        assert verdict.observed["backoff_ms"] == {"evt-4": None}
        assert not policy(make_trace(*attempts("timeout", "ok")), max_retries=0, min_backoff_ms=1000).passed
        unretried = policy(make_trace(*attempts("timeout")), min_backoff_ms=1000)
        assert unretried.exercised
        assert unretried.message == "1 failure of web_search, 0 retries, at most 1 for each allowed"

    def test_each_pause_is_judged_by_itself(self) -> None:
        """One of two times is not enough; a pass says which pauses it does not judge."""
        trace = make_trace(*attempts("timeout", "timeout", "ok"))
        for event, second in zip(trace.events[1:5], range(4), strict=True):
            event.ts = f"2026-11-23T08:00:0{second}Z"
        verdict = policy(trace, max_retries=2, min_backoff_ms=1000)
        assert verdict.observed["backoff_ms"] == {"evt-4": 1000.0, "evt-6": None}
        assert verdict.exercised
        assert verdict.message == (
            "2 failures of web_search, 2 retries, at most 2 for each allowed; "
            "the pause before evt-6 was not judged: the recording has no times"
        )

    def test_the_pause_begins_at_the_failure_that_was_known(self) -> None:
        """What is told of it later, once more, begins nothing, and its type is one."""
        late = result("web_search", "c0", {"error_type": "timeout"}, success=False)
        trace = make_trace(*attempts("timeout"), call("web_search", "c1", query="AI"), late)
        for event, second in zip(trace.events[1:5], range(4), strict=True):
            event.ts = f"2026-11-23T08:00:0{second}Z"
        verdict = policy(trace, min_backoff_ms=1000)
        assert verdict.observed["backoff_ms"] == {"evt-4": 1000.0}
        assert verdict.observed["error_types"] == {"evt-2": ["timeout"]}

    def test_times_of_any_form_are_read(self) -> None:
        """A time without a zone is UTC; what is no time is not judged."""
        trace = make_trace(*attempts("timeout", "ok"))
        trace.events[2].ts, trace.events[3].ts = "2026-11-23T08:00:00", "2026-11-23T09:00:03+01:00"
        assert policy(trace, min_backoff_ms=1).observed["backoff_ms"] == {"evt-4": 3000.0}
        trace.events[3].ts = "yesterday"
        assert policy(trace, min_backoff_ms=1).observed["backoff_ms"] == {"evt-4": None}

    def test_fails_without_an_error(self) -> None:
        """A test of retries needs a failure."""
        verdict = policy(make_trace(*attempts("ok", "ok", "ok", "ok")))
        assert (verdict.passed, verdict.exercised) == (False, True)
        assert verdict.message == (
            "expected an error of web_search to judge its retries by, got none in 4 calls of it; "
            "the trace calls web_search×4"
        )
        assert closest(verdict) == [(f"evt-{seq}", "it did not fail") for seq in (2, 4, 6)]
        assert verdict.observed == {"calls": 4, "failed_calls": 0, "retries": {}, "error_types": {}}

    def test_is_vacuous_without_an_error_when_none_is_required(self) -> None:
        """There was nothing to retry."""
        verdict = policy(make_trace(*attempts("ok")), require_error=False)
        assert (verdict.passed, verdict.exercised) == (True, False)
        assert verdict.reason == "no error of web_search in the trace"
        assert verdict.observed["calls"] == 1

    def test_errors_of_other_tools_do_not_count(self) -> None:
        """By name or glob."""
        trace = make_trace(call("web_fetch", "a"), error("web_fetch", "a"))
        assert not policy(trace).passed
        assert policy(trace, tool="web_*").passed

    def test_a_long_chain_is_judged_quickly(self) -> None:
        """Thousands of retries take no time."""
        verdict = policy(make_trace(*attempts(*["timeout"] * 5000)))
        assert verdict.message.endswith("got 4999")


def test_where_no_type_may_be_retried_any_retry_is_wrong() -> None:
    """Also after a failure without a type, which otherwise may be of a type that is allowed."""
    failed = [call("web_search", "c1", q="AI"), result("web_search", "c1", success=False)]
    trace = make_trace(*failed, call("web_search", "c2", q="AI"), result("web_search", "c2"))
    verdict = policy(trace, retry_on_error_types=[])
    assert verdict.message == (
        "expected retries of web_search only after errors of no type, "
        "got evt-4 after a failure without a type (evt-2)"
    )
    assert policy(trace, retry_on_error_types=["timeout"]).passed


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

    def test_passes_when_the_failure_is_told(self) -> None:
        """The failure and the answer are evidence."""
        verdict = graceful("The search timed out, so the digest was not sent.")
        assert (verdict.passed, verdict.exercised) == (True, True)
        assert verdict.message == 'the output admits the failure ("was not") and claims no success'
        assert refs(verdict) == ["evt-3", "evt-4"]
        assert verdict.observed == {
            "failures": ["evt-3"],
            "failure_phrases": ["was not", "timed out"],
            "success_claims": [],
        }

    def test_an_error_is_a_failure_whatever_else_it_says(self) -> None:
        """What an adapter adds to the data of an error, such as a success of its own, is not read."""
        failed = error("web_search", "c1")
        failed.data["success"] = True
        verdict = graceful("It timed out.", call("web_search", "c1"), failed)
        assert (verdict.passed, verdict.observed["failures"]) == (True, ["evt-3"])

    def test_fails_when_the_failure_is_not_told(self) -> None:
        """The phrases looked for are named."""
        verdict = graceful("The pool is open.", allowed_failure_phrases=["could not reach", "no answer"])
        assert not verdict.passed
        assert verdict.message == (
            'expected the output to admit the failure, but none of "could not reach", "no answer" occurs'
        )
        assert refs(verdict) == ["evt-3", "evt-4"]

    @pytest.mark.parametrize(
        ("params", "told"),
        [
            ({}, 'none of "could not", "couldn\'t", "cannot", "can not", "can\'t" and 28 more occurs'),
            ({"allowed_failure_phrases": ["could not reach"]}, '"could not reach" does not occur'),
        ],
    )
    def test_what_is_wrong_comes_before_the_phrases_looked_for(
        self, params: dict[str, Any], told: str
    ) -> None:
        """A claim of success says more than what is missing; of many phrases the first are named."""
        verdict = graceful("I sent the digest. All done.", **params)
        assert verdict.message == (
            'expected no claim of success, got "done" in "All done."; "sent" in "I sent the digest."; '
            f"expected the output to admit the failure, but {told}"
        )

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

    def test_fails_when_success_is_claimed(self) -> None:
        """Although the failure is told."""
        verdict = graceful("The search failed. I sent the digest anyway.")
        assert verdict.message == ('expected no claim of success, got "sent" in "I sent the digest anyway."')
        assert verdict.observed["success_claims"] == [
            {"phrase": "sent", "sentence": "I sent the digest anyway."}
        ]
        story = "the zoo opens at nine and the lions are fed " * 9
        (claim,) = graceful(f"The search failed. I read that {story} and sent it.").observed["success_claims"]
        assert claim["sentence"].endswith("are fed and sent it."), (
            "of a long sentence the part that claims it"
        )

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

    def test_phrases_of_the_author_replace_the_defaults(self) -> None:
        """For both lists, whatever case and apostrophe."""
        params = {
            "allowed_failure_phrases": ["couldn't reach"],
            "forbidden_success_phrases": ["pool is open"],
        }
        assert graceful("I COULDN’T REACH the page. Done.", **params).passed
        verdict = graceful("I couldn't reach the page, but the pool is open.", **params)
        assert verdict.message == (
            'expected no claim of success, got "pool is open" in '
            '"I couldn\'t reach the page, but the pool is open."'
        )

    def test_fails_without_a_failure(self) -> None:
        """There is nothing to tell of."""
        verdict = graceful("It failed.", *attempts("ok", "ok", "ok", "ok"))
        assert (verdict.passed, verdict.exercised) == (False, True)
        assert verdict.message == (
            "expected an error event or a tool_result with success: false, got none: "
            "there is no failure to report"
        )
        assert closest(verdict) == [(f"evt-{seq}", "it did not fail") for seq in (2, 4, 6)]
        assert verdict.observed == {"failures": []}

    def test_a_failed_result_is_a_failure(self) -> None:
        """Without an error event."""
        steps = [call("web_search", "a"), result("web_search", "a", success=False)]
        assert graceful("That could not be found.", *steps).passed

    def test_fails_without_an_output(self) -> None:
        """Silence tells nothing; the failure is evidence."""
        verdict = graceful(None)
        assert verdict.message == (
            "expected the output to admit the failure, but the trace has no final output"
        )
        assert refs(verdict) == ["evt-3"]
        empty = graceful(" ")
        assert empty.message == "expected the output to admit the failure, but the final output is empty"
        assert refs(empty) == ["evt-3", "evt-4"]

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


def test_a_failure_phrase_is_no_part_of_a_longer_number() -> None:
    """`error 50` is not admitted by `error 503`."""
    params = {"allowed_failure_phrases": ["error 50"]}
    trace = make_trace(call("web_search"), error("web_search"), output="There was an error 503.")
    assert not judge("graceful_failure_output", params, trace).passed
    assert judge("graceful_failure_output", {"allowed_failure_phrases": ["error 503"]}, trace).passed
