"""Memory assertions, and what a remembered fact asks of an answer."""

from typing import Any

import pytest

from agenteval.assertions import assertion_class
from agenteval.assertions.base import Verdict
from agenteval.assertions.memory import requests
from agenteval.contracts.models import Invalid, parse
from agenteval.contracts.trace import Capabilities, Trace
from agenteval.text.words import content_words, find_phrase
from builders import Step, judge, make_trace, memory_read, memory_write, received
from verdicts import closest, refs

NO_MEMORY = Capabilities(supports_tool_trace=True, supports_replay=True)
FACT = "Dana prefers answers as 3 short bullets, no preamble"
BULLETS = "- Melon\n- Popcorn\n- Oat cookies"


def recall(trace: Trace, **params: Any) -> Verdict:
    """A verdict of memory_recall_same_group on FACT."""
    return judge("memory_recall_same_group", {"expected_memory_fact": FACT, **params}, trace)


def test_only_the_correction_needs_memory_events_as_such() -> None:
    """Recall can be judged by the output."""
    kinds = {
        kind: assertion_class(kind) for kind in ("memory_recall_same_group", "memory_update_on_correction")
    }
    assert {kind: cls.implied for kind, cls in kinds.items() if cls} == {
        "memory_recall_same_group": (),
        "memory_update_on_correction": ("supports_memory_events",),
    }


class TestRecallByEvent:
    """memory_recall_same_group, evidence: event."""

    def test_an_output_block_is_not_judged(self) -> None:
        """The pass says so, and coverage knows it."""
        params = {"expected_memory_fact": FACT, "evidence": "event", "output": {"any_of": ["x"]}}
        verdict = judge("memory_recall_same_group", params, make_trace(memory_read("family", FACT)))
        assert verdict.passed
        assert verdict.message == (
            "the memory of group family was read (evt-2); evidence: event leaves the output block unjudged"
        )
        cls = assertion_class("memory_recall_same_group")
        assert cls is not None
        assert parse(cls, params).looks_at().event_types == {"memory_read"}

    def test_a_read_that_is_there_is_judged_whatever_the_adapter_supports(self) -> None:
        """Five of many are named; all are evidence."""
        trace = make_trace(*[memory_read("family", FACT) for _ in range(6)], capabilities=NO_MEMORY)
        verdict = recall(trace, evidence="event")
        assert (verdict.passed, verdict.applicable) == (True, True)
        assert verdict.message == "the memory of group family was read (evt-2, evt-3, evt-4, evt-5, evt-6)"
        assert len(refs(verdict)) == 6

    def test_an_event_that_names_no_group_is_about_its_own(self) -> None:
        """The group in which it happened."""
        read = memory_read("family", FACT)
        del read.data["group_id"]
        assert recall(make_trace(read), evidence="event").passed

    @pytest.mark.parametrize("evidence", ["event", "both"])
    def test_a_read_is_evidence_whatever_the_flag_says(self, evidence: str) -> None:
        """Without the flag, what the recording holds is judged."""
        trace = make_trace(memory_read("family", FACT), output="- a\n- b\n- c", capabilities=NO_MEMORY)
        verdict = recall(trace, evidence=evidence)
        assert (verdict.passed, verdict.observed["memory_reads"]) == (True, ["evt-2"])


class TestRecallByOutput:
    """memory_recall_same_group, evidence: output, both and auto."""

    def test_both_needs_both(self) -> None:
        """Each side that is missing is told."""
        read = memory_read("family", FACT)
        assert recall(make_trace(read, output=BULLETS), evidence="both").passed
        kept = recall(make_trace(read, output="- Melon"), evidence="both")
        assert kept.message == f'the output does not honour "{FACT}": expected exactly 3 bullets, got 1'
        verdict = recall(make_trace(output="- Melon\n- Popcorn"), evidence="both")
        assert verdict.message == (
            "expected a memory_read of group family before the answer, got none; "
            f'the output does not honour "{FACT}": expected exactly 3 bullets, got 2'
        )
        assert verdict.observed["evidence"] == ["event", "output"]

    def test_auto_is_output_where_the_adapter_does_not(self) -> None:
        """The answer then is the only evidence."""
        verdict = recall(make_trace(output=BULLETS, capabilities=NO_MEMORY))
        assert (verdict.passed, verdict.observed["evidence"]) == (True, ["output"])
        assert not recall(make_trace(output="Melon.", capabilities=NO_MEMORY)).passed


@pytest.mark.parametrize(
    ("fact", "wanted"),
    [
        ("User prefers brief bullets", ["at least 1 bullet", "at most 120 words"]),
        ("Briefs: 3 bullet points, no preamble", ["exactly 3 bullets", "no preamble"]),
        ("wants 3-5 bullets", ["3 to 5 bullets"]),
        ("replies of 3 to 5 bullets", ["3 to 5 bullets"]),
        ("more than 2 bullets", ["at least 3 bullets"]),
        ("prefers 3 one-line bullets", ["exactly 3 bullets"]),
        ("prefers one-line bullets", ["at least 1 bullet"]),
        ("wants 2 three-sentence paragraphs", ["exactly 2 paragraphs"]),
        ("at least 2 sentences per answer", ["at least 2 sentences"]),
        ("3 wordy bullets", ["exactly 3 bullets"]),
        ("3 bullets, at most 2 sentences per bullet", ["exactly 3 bullets"]),
        ("no more than three bullet points", ["at most 3 bullets"]),
        ("5 bullets max", ["at most 5 bullets"]),
        ("at least 2 bullets", ["at least 2 bullets"]),
        ("never use bullets in replies", ["exactly 0 bullets"]),
        ("Dana doesn't like bullets", ["exactly 0 bullets"]),
        ("Don’t use any bullet points", ["exactly 0 bullets"]),
        ("replies must not contain bullets", ["exactly 0 bullets"]),
        ("prefers paragraphs over bullet points", ["exactly 0 bullets"]),
        ("prefers tables over bullets", ["exactly 0 bullets", "an output block, which can judge tables"]),
        ("No bullets, answers of at most two sentences", ["exactly 0 bullets", "at most 2 sentences"]),
        ("bullets, not more than 5 bullet points", ["at most 5 bullets"]),
        ("answers in at most two sentences", ["at most 2 sentences"]),
        ("one-paragraph answers", ["exactly 1 paragraph"]),
        ("reports under 50 words", ["at most 49 words"]),
        ("summaries of 80 words", ["at most 80 words"]),
        ("prefers tables", ["an output block, which can judge tables"]),
        ("prefers 3 bullets, each under 12 words", ["exactly 3 bullets"]),
        ("answers in 2 paragraphs, each of 3 sentences", ["exactly 2 paragraphs"]),
        ("prefers JSON output", ["an output block, which can judge json"]),
        ("Dana works on a JSON parser", ["at least 2 of the fact's words Dana, works, JSON, parser"]),
        ("prefers answers in German", ["an output block, which can judge in german"]),
        (
            "wants short replies in English",
            ["an output block, which can judge in english", "at most 120 words"],
        ),
        ("Leo's report in German is due", ["at least 2 of the fact's words Leo's, report, German, due"]),
        (
            "No bullets, replies only in German.",
            ["exactly 0 bullets", "an output block, which can judge in german"],
        ),
        ("Messages in German arrive late", ["at least 2 of the fact's words Messages, German, arrive, late"]),
        ("Dana can write in German", ["at least 2 of the fact's words Dana, write, German"]),
        ("no preamble", ["no preamble"]),
        ("Please, no preamble.", ["no preamble"]),
        ("Please skip the intro.", ["no preamble"]),
        ("Prefers no small talk", ["no preamble"]),
        ("Dana wants answers without preamble", ["no preamble"]),
        (
            "Leo's report came without an introduction",
            ["at least 3 of the fact's words Leo's, report, came, without, introduction"],
        ),
        ("Use exactly two sentences", ["exactly 2 sentences"]),
        ("We use Postgres, not MySQL", ["at least 1 of the fact's words Postgres"]),
        ("Prefers Python over JavaScript", ["at least 1 of the fact's words Python"]),
        ("Instead of npm, run pnpm", ["at least 1 of the fact's words run, pnpm"]),
        ("keep it short", ["at most 120 words"]),
        ("Dana likes concise updates", ["at most 120 words"]),
        ("three bullets, one sentence each", ["exactly 3 bullets"]),
        ("Leo prefers short walks", ["at least 2 of the fact's words Leo, short, walks"]),
        ("keeps a bullet journal", ["at least 2 of the fact's words keeps, bullet, journal"]),
        ("The essay has 500 words", ["at least 2 of the fact's words essay, 500, words"]),
        (
            "Saturday 11:00 zoo visit with Grandma Rosa",
            ["at least 3 of the fact's words Saturday, 11:00, zoo, visit, Grandma, Rosa"],
        ),
        ("so it is", []),
    ],
)
def test_what_a_fact_asks_of_an_answer(fact: str, wanted: list[str]) -> None:
    """A form where the fact states one about answers, else half of its content words."""
    assert [request.wanted for request in requests(fact, "An answer.")] == wanted


@pytest.mark.parametrize(
    ("fact", "answer", "met"),
    [
        ("3 bullets", "• a\n• b\n• c", True),
        ("3 bullets", "• a\n• b", False),
        ("no bullets", "Just text.", True),
        ("no bullets", "- a", False),
        ("answers in two sentences", "One. Two.", True),
        ("answers in two sentences", "One. Two. Three.", False),
        ("keep it brief", "word " * 121, False),
        ("keep it brief", "word " * 120, True),
        ("prefers JSON output", '{"a": 1}', False),
        ("prefers JSON output", "JSON output", False),
        ("prefers answers in German", "Here is your answer in German.", False),
        ("prefers answers in English", "Here is your answer.", False),
        ("prefers answers in English", "Estoy muy bien, gracias por preguntar.", False),
        ("The server runs on port 8080", "8080", True),
        ("The server runs on port 8080", "Port 9090.", False),
        ("The budget is 500 EUR", "€500", True),
        ("The team meets on Thursdays at 10:00", "Thursday, 10 am.", True),
        ("The team meets on Thursdays at 10:00", "We can talk at 10 am.", False),
        ("Leo swims on Thursday", "We can talk on Thursday.", False),
        ("The deadline is 2026-03-15", "15 March 2026", True),
        ("The deadline is 2026-03-15", "March 2026", False),
        ("We use Postgres, not MySQL", "MySQL.", False),
        ("short answers, no preamble", "Certainly! It is five.", False),
        ("short answers, no preamble", "Five.", True),
        ("no preamble", "Sure, here you go: five.", False),
        ("no preamble", "Five.", True),
        ("Lunch on Tuesday with Maria", "On Tuesday you have lunch.", True),
        ("Lunch on Tuesday with Maria", "You have lunch.", False),
        ("Launches happen on Fridays", "We launched it on Friday.", True),
        ("東京に住んでいる", "あなたは東京に住んでいるので、", True),
        ("東京に住んでいる", "わかりません", False),
        ("妹は素食レストランが好き", "近くの素食レストランはこちらです。", True),
        ("妹は素食レストランが好き", "近くのステーキ店はこちらです。", False),
    ],
)
def test_whether_an_answer_honours_a_fact(fact: str, answer: str, met: bool) -> None:
    """Judged on the form or the words of the answer."""
    assert all(request.met for request in requests(fact, answer)) is met


@pytest.mark.parametrize(
    ("fact", "answer", "contradicted"),
    [
        ("Leo swims on Thursday", "Leo swims on Tuesday.", ("Thursday", "Tuesday")),
        ("Leo swims on Thu", "Leo swims on Tuesdays and Fridays.", ("Thu", "Tuesdays and Fridays")),
        ("Leo swims on Thursday", "Leo swims on Thursdays, no longer on Tuesday.", None),
        ("Leo swims on Thursday", "Leo swims tomorrow.", None),
        ("Leo swims on Thursday", "Leo swims once, Mon-Fri.", None),
        ("Leo swims on Tuesday and Thursday", "Leo swims on Tuesday.", None),
        ("Leo hates the sun", "Leo hates the sun, so go on Tuesday.", None),
        ("The meeting is at 17:00", "The meeting is at 9:00.", ("17:00", "9:00")),
        ("The meeting is at 17:00", "The meeting is at 5 pm.", None),
        ("The meeting is at 17:00", "Leave at 16:30, so that you are at the meeting at 17:00.", None),
        ("Dana's birthday is on 12 May", "Dana's birthday is on 3 June.", ("12 May", "3 June")),
        ("Dana's birthday is on 12 May", "Dana's birthday: May 12, 2027.", None),
        ("Dana has two kids", "Dana has 3 kids.", ("two", "3")),
        ("Dana has two kids", "Here are 5 ideas for Dana and the kids.", None),
        ("The budget is 300 euros", "The budget is 500 €, not 300.", ("300 euros", "500 €")),
        ("The budget is 300 euros", "The budget is €300, of which 100 € are spent.", None),
        ("The wifi code is 4711", "The wifi code is 1234.", ("4711", "1234")),
        ("The wifi code is 4711", "One of the wifi codes is in the kitchen.", None),
        ("Leo's second lesson is swimming", "First, pack for swimming: Leo has a lesson.", None),
        ("The wifi code is 4711", "1. Find the code\n2. Use the wifi", None),
    ],
)
def test_an_answer_with_another_value_contradicts_the_fact(
    fact: str, answer: str, contradicted: tuple[str, str] | None
) -> None:
    """A day, date, time or number of the same kind in place of the fact's own; without any, the words decide."""
    words, *others = requests(fact, answer)
    assert words.met
    assert [(other.wanted, other.got, other.met) for other in others] == (
        [(*contradicted, False)] if contradicted else []
    )


def corrected(
    *steps: Step, output: str = "Noted: Thursday.", asked: str | None = "It is on Thursday now."
) -> Verdict:
    """A verdict of memory_update_on_correction from Tuesday to Thursday."""
    params = {"new_value": "Thursday", "old_value": "Tuesday"}
    return judge("memory_update_on_correction", params, make_trace(*steps, asked=asked, output=output))


class TestUpdateOnCorrection:
    """memory_update_on_correction."""

    def test_passes_by_the_change_summary_and_by_structured_content(self) -> None:
        """An adapter may know only what changed, or keep memory as data."""
        assert corrected(memory_write("family", None, change_summary="Tuesday -> Thursday")).passed
        assert corrected(memory_write("family", {"swimming": ["Thursday", 17]})).passed

    def test_what_was_taken_out_is_not_written(self) -> None:
        """A summary may tell what a change replaced; a value that is gone again is not held."""
        undone = memory_write(
            "family", "- Swimming: Tuesday", change_summary="instead of: - Swimming: Thursday"
        )
        assert closest(corrected(undone)) == [("evt-2", 'content: expected to hold "Thursday"')]
        written = memory_write(
            "family", "- Swimming: Thursday", change_summary="instead of: - Swimming: Tuesday"
        )
        assert corrected(written).passed
        assert closest(corrected(written, undone))[0] == ("evt-2", "it was removed again")
        assert corrected(written, undone, written).passed
        moved = memory_write("family", "", change_summary="instead of: - Swimming: Thursday")
        moved.data["path"] = "old.md"
        assert corrected(written, moved).passed

    @pytest.mark.parametrize(
        ("taken", "content", "kept"),
        [
            ("Swimming", "Swim", True),
            ("Thurs", "Tues", False),
            ("Thursday", "Thursday 17:00", True),
            ("# Old\n- Swimming: Thursday", "# Old", False),
            ("# All\n- Swimming: Thursday, 5 pm\n- tea", "- tea", False),
            ("# All\nThursday\n- tea", "- tea", False),
            ("# All\n- Swimming: Thursday\n- tea", "- tea\n- Swimming: Thursday", True),
        ],
    )
    def test_only_the_text_that_holds_it_takes_it_out(self, taken: str, content: str, kept: bool) -> None:
        """An edit of another text does not."""
        written = memory_write("family", "- Swimming: Thursday")
        later = memory_write("family", content, change_summary=f"instead of: {taken}")
        assert corrected(written, later).passed is kept

    @pytest.mark.parametrize(
        ("content", "kept"),
        [
            ("- Swimming: Tuesday", False),
            ("- Tea: green", True),
            ("# Family\n- swimming: TUESDAY\n- tea", False),
            ("- Swimming: Thursday 17:00\n- Tea: green", True),
            ("- Gym: Tuesday", True),  # added
            ("- Swimming: Friday", True),
            ("\n\n---", True),
        ],
    )
    def test_a_file_written_anew_without_the_value_has_lost_it(self, content: str, kept: bool) -> None:
        """A write without a summary adds, unless it has a line again with the old value."""
        written = memory_write("family", "- Swimming: Thursday\n- Tea: green\n---")
        verdict = corrected(written, memory_write("family", content))
        assert verdict.passed is kept
        assert kept or closest(verdict)[0] == ("evt-2", "it was removed again")
        other = memory_write("family", content)
        other.data["path"] = "other.md"
        assert corrected(written, other).passed

    def test_equal_summaries_tell_of_no_file_written_anew(self) -> None:
        """Two changes may be summed up alike; one that takes the first back is told all the same."""
        first = memory_write("family", "- Swimming: Thursday", change_summary="Updated preferences")
        second = memory_write("family", "- Tea: green", change_summary="Updated preferences")
        assert corrected(first, second).passed
        moved, back = (
            memory_write("family", None, change_summary=f"swimming is on {day}")
            for day in ("Thursday", "Tuesday")
        )
        assert not corrected(moved, back).passed

    def test_the_three_closest_writes_are_shown(self) -> None:
        """Those with the least that is wrong first, then as they came."""
        steps = [memory_write(group, "") for group in ("work", "family", "work", "family", "family")]
        assert [event for event, _ in closest(corrected(*steps))] == ["evt-3", "evt-5", "evt-6"]

    def test_a_write_before_the_thanks_counts(self) -> None:
        """A later message that repeats the new value is no new correction."""
        assert corrected(memory_write("family", "Thursday"), received("Thursday, thanks")).passed

    def test_without_the_new_value_the_last_message_is_the_correction(self) -> None:
        """The user may name the day in other words."""
        steps = memory_write("family", "Thursday"), received("the day after Wednesday")
        assert not corrected(*steps, asked="It moved.").passed
        assert corrected(*reversed(steps), asked="It moved.").passed

    @pytest.mark.parametrize(
        ("output", "used"),
        [
            ("See you on Tuesday.", True),
            ("Noted. Swimming is on TUESDAY at 17:00.", True),
            ("- Swimming: Tuesday\n- Dentist: Friday", True),
            ("I moved it from Thursday to Tuesday.", True),
            ("It is Tuesday instead of Thursday.", True),
            ("Don't worry, swimming is on Tuesday.", True),
            ("Swimming is on Thursday and on Tuesday.", True),
            ("Swimming is on Thursday.", False),
            ("Swimming is on Thursday, not Tuesday.", False),
            ("It is not on Tuesday any more.", False),
            ("Thursday instead of Tuesday, noted.", False),
            ("I moved it from Tuesday to Thursday.", False),
            ("Updated: ~~Tuesday~~ Thursday", False),
            ("Tuesday → Thursday", False),
            ("It was on Tuesday, it is on Thursday now.", False),
            ("Tuesdays are free again.", False),
            ("Updated! Previously: Tuesday. Now: Thursday.", False),
            ("- **Old day:** Tuesday\n- **New day:** Thursday", False),
            ("I had Tuesday in my notes; it is Thursday now.", False),
            ("As I said before: Tuesday.", True),
            ("Sorry, I had previously noted Tuesday. It is Thursday now.", False),
            ("I had Tuesday before. Fixed!", False),
            ("I thought you said Tuesday. Thursday it is.", False),
            ("I mistakenly wrote down Tuesday.", False),
            ("I had it moved to Tuesday.", True),
            ("It used to be Tuesday.", False),
            ("It used to be on **Tuesday**.", False),
            ("Done. Tuesday's class is now on Thursday.", False),
            ("Done. Thursday's class is now on Tuesday.", True),
            ("Noted: the Tuesday class is now Thursday.", False),
            ("Swimming on Tuesday, gym now on Thursday.", True),
            ("As previously agreed, see you on Tuesday.", True),
            ("The originally planned swimming on Tuesday takes place.", True),
            ("Notiert: Thursday, nicht Tuesday.", False),
            ("Thursday statt am Tuesday, alles klar.", False),
            ("Statt Thursday also Tuesday.", True),
            ("I'll no longer use Tuesday.", False),
            ("Removed: Tuesday. Added: Thursday.", False),
            ("I deleted the note about Tuesday.", False),
            ("I wrongly assumed that it was on Tuesday.", False),
            ("I removed the other entry. See you on Tuesday.", True),
            ("C'est noté : Thursday au lieu de Tuesday.", False),
            ("Anotado: Thursday en vez del Tuesday.", False),
        ],
    )
    def test_the_output_must_not_use_the_old_value(self, output: str, used: bool) -> None:
        """Setting it right is not using it."""
        verdict = corrected(memory_write("family", "Thursday"), output=output)
        assert verdict.passed is not used
        assert bool(verdict.observed["old_value_in_output"]) is used

    @pytest.mark.parametrize(
        ("new", "old", "written", "output", "right"),
        [
            ("March 15", "March 10", "Deadline: 2026-03-15", "It is due on 15 March.", True),
            ("March 15", "March 10", "Deadline: March 15", "Noted: 10 March.", False),
            ("March 15", "March 10", "Deadline: in March 2026", "It is due in March.", False),
            ("15:00", "14:00", "Call at 3 pm", "It is at 3 pm.", True),
            ("15:00", "14:00", "Call at 15:00", "It is at 2 pm.", False),
            ("10 pm", "10:00", "Call at 22:00", "It is at 10 pm.", True),
            ("1500", "1200", "Limit: 1,500", "It is 1,500, not 1,200.", True),
            ("15:00", "3 pm", "Call at 15:00", "It is at 15:00.", True),
            ("bullet", "table", "Prefers bullets", "Noted: bullets.", True),
            ("Ann", "Anna", "Name: Anna", "Hi Ann!", False),
        ],
    )
    def test_values_are_found_in_any_spelling(
        self, new: str, old: str, written: str, output: str, right: bool
    ) -> None:
        """Dates, times and numbers are what they say; of words, the plural is the same value."""
        params = {"new_value": new, "old_value": old}
        trace = make_trace(memory_write("family", written), asked=f"It is {new} now.", output=output)
        assert judge("memory_update_on_correction", params, trace).passed is right

    def test_the_use_of_the_old_value_is_shown(self) -> None:
        """With the sentence, and the output as evidence."""
        written = [memory_write("family", "Thursday") for _ in range(2)]
        twice = corrected(*written, output="See you on Tuesday, as on every Tuesday.")
        assert twice.observed["old_value_in_output"] == ["See you on Tuesday, as on every Tuesday."]
        verdict = corrected(*written, output="Noted. See you on Tuesday.")
        assert verdict.message == 'expected the output not to use "Tuesday", got "See you on Tuesday."'
        story = "the zoo opens at nine and the lions are fed " * 9
        long = corrected(*written, output=f"I know that {story} on Tuesday.")
        assert long.message.endswith('are fed on Tuesday."'), "of a long sentence the part that uses it"
        assert (refs(verdict), closest(verdict)) == (["evt-2", "evt-4"], [])
        assert verdict.observed["memory_writes"] == ["evt-2", "evt-3"]

    def test_refuses_equal_values(self) -> None:
        """There is nothing to correct."""
        cls = assertion_class("memory_update_on_correction")
        assert cls is not None
        with pytest.raises(Invalid) as caught:
            parse(cls, {"new_value": "Thursday", "old_value": "thursday"})
        assert caught.value.findings[0].message == (
            "old_value and new_value are the same, 'Thursday': nothing is corrected"
        )


def test_content_words_are_plain_forms() -> None:
    """Endings, possessives, function words and thousands separators go; codes and times stay whole."""
    text = "The launches of Luigi's peanut-free cakes aren't planned: XK-4471, 48,200 EUR at 14:00 by nora@example.com."
    assert content_words(text) == [
        "launch", "luigi", "peanut", "free", "cake", "plan", "xk-4471", "48200", "eur", "14:00", "nora@example.com",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("I want 5 bullets.", "5  BULLETS", True),
        ("15 bullets", "5 bullets", False),
        ("5bullets", "5 bullets", False),
        ("5 short bullets", "5 bullets", False),
        ("it is 5.5", "5", False),
        ("1,500", "500", False),
        ("Luigi’s place", "luigi's", True),
        ("a+b", "a+b", True),
        ("line\nbreak", "line break", True),
        ("anything", " ", False),
        ("会議は木曜日です", "木曜日", True),
        ("5月12日", "12日", False),
        ("15月", "5月", False),
    ],
)
def test_phrases_are_found_as_whole_words(text: str, phrase: str, found: bool) -> None:
    """Whatever the case and the blanks between the words."""
    assert any(find_phrase(text, phrase)) is found
