"""The HTML report in a real browser: what a person sees and does, and what a hostile agent cannot do."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from agenteval.judging.stored import StoredRun
from agenteval.redaction.redactor import Redactor
from agenteval.reporters.html import render
from browsing import PHONE, SAYS, Open
from builders import call, error, make_trace, memory_read, result
from html_runs import FETCHES, FETCHES_A_PAGE, SEARCHES, fetched, outcome, searched, stored_run
from runs import CASES, EXAMPLES, run_command

KNOWN: dict[str, Any] = {"expected": {"status": "fail", "assertions": ["fetches"], "reason": "a known bug"}}
WARNS = {**FETCHES, "id": "warns", "severity": "warning"}
VACUOUS = {"id": "vacuous", "type": "no_duplicate_outbound"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where reports stand that several tests open."""
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def mixed(folder: Path) -> Path:
    """A report with a test of each kind."""
    run = stored_run(
        folder,
        outcome("sound", SEARCHES, tags=["cats"]),
        outcome("wrong-page", FETCHES_A_PAGE, SEARCHES, trace=fetched("https://old.example/")),
        outcome("known", FETCHES, **KNOWN),
        outcome("doubtful", SEARCHES, WARNS, VACUOUS, trace=searched("zebras")),
        outcome("broken", SEARCHES, FETCHES),
        run_id="mixed",
    )
    return written(run, folder / "mixed.html")


def written(run: StoredRun, path: Path) -> Path:
    """The report of a run, in a file."""
    path.write_bytes(render(run, Redactor()))
    return path


def test_of(page: Page, name: str) -> Locator:
    """A test of the report."""
    return page.locator(f'[id="test-nanoclaw.html.{name}.x"]')


test_of.__test__ = False  # type: ignore[attr-defined]


def names(page: Page) -> list[str]:
    """The titles of the tests that show."""
    return page.locator(".test:visible .name").all_text_contents()


@pytest.mark.parametrize("described", [{}, {"description": "why it is checked"}], ids=["", "described"])
def test_what_is_wrong_stands_out(visit: Open, tmp_path: Path, described: dict[str, str]) -> None:
    """A message that tells of no expectation and what was got is set off too, whether or not a description precedes it."""
    lacks = {"id": "lacks", "type": "output_contains", "params": {"any_of": ["gnus"]}, **described}
    run = stored_run(tmp_path / "run", outcome("lacks", lacks))
    page = visit(written(run, tmp_path / "report.html"))
    message = page.locator(".check.is-fail .verdict > .text").first
    expect(message).to_contain_text('"gnus" is missing')
    expect(message).to_have_css("border-left-width", "3px")


def test_it_opens_at_the_failures(visit: Open, mixed: Path) -> None:
    """The first one is open and on the first screen; those that passed come last."""
    page = visit(mixed)
    assert page.title() == "2 tests failed – agenteval mixed"
    expect(page.get_by_role("heading", level=1)).to_have_text("2 tests failed")
    assert names(page) == [
        f"The test {name}" for name in ("wrong-page", "broken", "known", "sound", "doubtful")
    ]
    first = test_of(page, "wrong-page")
    expect(first.locator(".events")).to_be_visible()
    expect(first.locator("summary").first).to_be_in_viewport()
    expect(test_of(page, "broken").locator(".body")).to_have_count(0)


def test_a_failed_assertion_says_what_was_expected_and_what_came(visit: Open, mixed: Path) -> None:
    """With the difference at the argument that differs."""
    first = test_of(visit(mixed), "wrong-page")
    check = first.locator(".check").first
    expect(check.locator("summary b").first).to_have_text("fetches-a-page")
    expect(check.locator(".verdict > .text")).to_contain_text("call of web_fetch")
    url = first.locator(".field", has_text="url").first
    expect(url.locator(".difference")).to_contain_text('expected to contain "news.example"')
    expect(url.locator(".difference")).to_contain_text('got "https://old.example/"')


def test_assertions_and_events_lead_to_each_other(visit: Open, mixed: Path) -> None:
    """A pin goes to the assertion, a reference to the event; pointing at an assertion lights its events up."""
    page = visit(mixed)
    first = test_of(page, "wrong-page")
    event = first.locator(".event.tool_call")
    check = first.locator(".check", has_text="fetches-a-page")
    check.locator(".at a", has_text="evt-2").click()
    assert page.url.endswith("#test-nanoclaw.html.wrong-page.x--event-2")
    expect(event).to_be_in_viewport()
    event.locator(".pins a", has_text="fetches-a-page").click()
    assert page.url.endswith("--check-1")
    check.locator("b").first.hover()
    assert "lit" in (event.get_attribute("class") or "")
    page.get_by_role("heading", level=1).hover()
    assert "lit" not in (event.get_attribute("class") or "")


def test_the_search_hides_nothing_that_is_linked_to(visit: Open, mixed: Path) -> None:
    """The line of the test stands below the search, however many lines that takes."""
    page = visit(mixed, "#test-nanoclaw.html.broken.x", viewport={"width": 700, "height": 500})
    bar, line = (
        page.locator(".tools").bounding_box(),
        test_of(page, "broken").locator("summary").first.bounding_box(),
    )
    assert bar is not None
    assert line is not None
    assert bar["height"] > 80  # more than one line
    assert line["y"] >= bar["y"] + bar["height"]


def test_a_link_to_an_event_opens_its_test(visit: Open, mixed: Path) -> None:
    """Also one of a closed test, from outside."""
    page = visit(mixed, "#test-nanoclaw.html.sound.x--event-4")
    expect(page.locator(".event.final_output:visible").last).to_be_in_viewport()
    expect(test_of(page, "sound").locator(".event.final_output")).to_contain_text("Cats purr.")


@pytest.mark.parametrize("anchor", ["", "--event-4"])
def test_a_link_opens_the_test_that_it_names(anchor: str, visit: Open, folder: Path) -> None:
    """Not one whose id is the beginning of the other's."""
    other = outcome("two", SEARCHES, id="nanoclaw.html.one.x--two")
    run = stored_run(folder, outcome("one", SEARCHES), other, run_id=f"alike{anchor}")
    page = visit(written(run, folder / "alike.html"), f"#test-nanoclaw.html.one.x--two{anchor}")
    expect(page.locator('[id="test-nanoclaw.html.one.x--two"] > .body')).to_be_visible()
    expect(test_of(page, "one").locator(".body")).to_have_count(0)


def test_search_finds_what_closed_tests_say(visit: Open, mixed: Path) -> None:
    """All words, wherever they stand; the number found is told to screen readers."""
    page = visit(mixed)
    find = page.get_by_role("searchbox", name="Search tests, tools, messages and values")
    find.fill("zebras web_search")
    expect(page.get_by_role("status")).to_have_text("1 of 5 tests shown")
    assert names(page) == ["The test doubtful"]
    find.fill("no such words")
    expect(page.get_by_text("No test matches.")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    assert len(names(page)) == 5
    find.fill("<details")
    expect(page.get_by_role("status")).to_have_text("0 of 5 tests shown")
    find.press("Escape")
    assert len(names(page)) == 5


def test_filters_by_outcome_and_category(visit: Open, mixed: Path) -> None:
    """Outcomes add up, a category narrows; what nothing is behind is not offered."""
    page = visit(mixed)
    outcomes = page.get_by_role("group", name="Show only")
    assert [" ".join(text.split()) for text in outcomes.get_by_role("button").all_inner_texts()] == [
        "Failed 2",
        "Expected failure 1",
        "Passed 2",
        "With warnings 1",
        "Nothing to judge 1",
    ]
    outcomes.get_by_role("button", name="Expected failure").click()
    outcomes.get_by_role("button", name="With warnings").click()
    assert names(page) == ["The test known", "The test doubtful"]
    expect(outcomes.get_by_role("button", name="With warnings")).to_have_attribute("aria-pressed", "true")
    page.locator("button[data-category=tool_process]").click()
    assert names(page) == ["The test known", "The test doubtful"]


def test_the_keyboard_reaches_everything(visit: Open, mixed: Path) -> None:
    """The first tab stop skips to the tests; there j and k move, Enter opens and closes, / goes to the search."""
    page = visit(mixed)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the tests")).to_be_focused()
    page.keyboard.press("Enter")
    line = test_of(page, "wrong-page").locator("summary").first
    line.focus()
    page.keyboard.press("j")
    expect(test_of(page, "broken").locator("summary").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(test_of(page, "broken").locator(".events")).to_be_visible()
    page.keyboard.press("k")
    expect(line).to_be_focused()
    page.keyboard.press("Enter")
    expect(test_of(page, "wrong-page").locator(".events")).not_to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("j/k")
    expect(page.get_by_role("searchbox")).to_have_value("j/k")


def test_all_tests_open_and_close_at_once(visit: Open, mixed: Path) -> None:
    """Those that show."""
    page = visit(mixed)
    page.locator("[data-is=pass].is-pass:not(details)").click()
    page.get_by_role("button", name="Open all").click()
    expect(page.locator(".test[open] > .body:visible")).to_have_count(2)
    page.get_by_role("button", name="Close all").click()
    expect(page.locator(".test[open]")).to_have_count(0)


def test_the_theme_is_the_readers(visit: Open, mixed: Path) -> None:
    """That of the system at first, then the one chosen."""
    page = visit(mixed, color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(15, 17, 20)"
    page.get_by_role("button", name="Dark or light").click()
    assert page.evaluate(paper) == "rgb(247, 247, 245)"
    assert page.evaluate("localStorage.getItem('agenteval.theme')") == "light"


def test_hostile_words_do_nothing(visit: Open, folder: Path) -> None:
    """Wherever a test or a trace can hold them; they are shown as they are, and can be searched for."""
    trace = make_trace(
        call(SAYS, **{SAYS: SAYS}),
        result(SAYS, value={SAYS: SAYS}),
        call("web_fetch", url=SAYS),
        error("web_fetch", error_type=SAYS, message=SAYS),
        memory_read(SAYS, SAYS, path=SAYS),
        output=SAYS,
        asked=SAYS,
    )
    says = {"id": "says", "type": "output_contains", "params": {"all_of": [SAYS + "!"]}, "description": SAYS}
    outcomes = [outcome(name, says, trace=trace, title=SAYS, tags=[SAYS]) for name in ("one", "two")]
    page = visit(written(stored_run(folder, *outcomes, run_id="hostile"), folder / "hostile.html"))
    page.get_by_role("button", name="Open all").click()
    expect(page.locator(".events:visible")).to_have_count(2)
    assert page.title() == "2 tests failed – agenteval hostile"
    assert page.locator("img, iframe, base, a[href^=javascript], meta[http-equiv=refresh]").count() == 0
    said = test_of(page, "two").locator(".final_output .text").text_content()
    assert said == SAYS.replace("\u202e", "\\u202e").replace("\x00", "\\x00").replace("\x1b", "\\x1b")
    page.get_by_role("searchbox").fill("</noscript></script> \\u202eright")
    expect(page.get_by_role("status")).to_have_text("2 of 2 tests shown")


def test_a_megabyte_on_one_line_stays_in_its_place(visit: Open, folder: Path) -> None:
    """The page is no wider than the window, the beginning is shown, and what is left out is told."""
    line = "x" * 1_000_000
    trace = make_trace(call("web_fetch", url=line), result("web_fetch", value=line), output=line)
    path = written(
        stored_run(folder, outcome("long", SEARCHES, trace=trace), run_id="long"), folder / "long.html"
    )
    assert path.stat().st_size < 300_000
    page = visit(path, viewport=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    answer = test_of(page, "long").locator(".final_output")
    expect(answer.locator(".left-out")).to_have_text(
        "980,000 more characters not in this report: see the run's files."
    )
    answer.get_by_text("18,800 more characters").click()
    assert len(answer.locator(".value").inner_text()) > 20_000


def test_without_scripts_all_of_it_can_be_read(visit: Open, mixed: Path) -> None:
    """Controls that would do nothing are not there."""
    page = visit(mixed, java_script_enabled=False)
    test = test_of(page, "sound")
    test.locator("summary").first.click()
    expect(test.locator(".event.final_output")).to_contain_text("Cats purr.")
    expect(page.get_by_role("searchbox")).to_have_count(0)


def test_on_paper_there_are_no_controls(visit: Open, mixed: Path) -> None:
    """Whatever the theme, the paper is white."""
    page = visit(mixed, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".tools")).not_to_be_visible()
    expect(page.locator("button:visible:not(.category)")).to_have_count(0)
    expect(test_of(page, "wrong-page").locator(".events")).to_be_visible()
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.test')).backgroundColor")
        == "rgb(255, 255, 255)"
    )


@pytest.fixture(scope="module")
def controls(folder: Path) -> Path:
    """Some failing controls, one that ends in an error, and some examples."""
    failing = [CASES / "failing" / name for name in ("trajectory_matches", "retry_policy_respected")]
    passing = [EXAMPLES / "nanoclaw" / name for name in ("current-news", "memory-cross-group")]
    cases = [*failing, CASES / "error" / "fixture-stale", *passing]
    run = run_command(cases, folder, "--save-traces", run_id="all")
    return written(StoredRun(run.folder), folder / "controls.html")


@pytest.mark.parametrize(
    ("report", "options"),
    [
        ("mixed", {"color_scheme": "light"}),
        ("mixed", {"color_scheme": "dark", "viewport": PHONE}),
        ("controls", {"color_scheme": "dark"}),
    ],
    ids=["light", "phone-dark", "controls-dark"],
)
def test_axe_finds_nothing(
    visit: Open, request: pytest.FixtureRequest, report: str, options: dict[str, Any]
) -> None:
    """The rules for accessibility of axe-core hold with tests open, in both themes."""
    page = visit(request.getfixturevalue(report), bypass_csp=True, **options)
    page.add_style_tag(content=".test { content-visibility: visible !important }")
    closed = page.locator(".test:not([open]) > summary")
    for _ in range(5):
        if closed.count():
            closed.first.click()
    found = Axe().run(page)
    assert found.response["passes"]
    assert found.violations_count == 0, found.generate_report()


def test_axe_would_find_something(visit: Open, mixed: Path) -> None:
    """A negative control: text that is hardly there."""
    page = visit(mixed, bypass_csp=True)
    page.add_style_tag(content=".facts { color: light-dark(#eee, #222) !important }")
    rules = {violation["id"] for violation in Axe().run(page).response["violations"]}
    assert rules == {"color-contrast"}


@pytest.mark.parametrize("width", [320, 768])
def test_no_window_is_too_narrow(visit: Open, controls: Path, width: int) -> None:
    """Nothing stands out to the side."""
    page = visit(controls, viewport={"width": width, "height": 800})
    page.get_by_role("button", name="Open all").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") == width
