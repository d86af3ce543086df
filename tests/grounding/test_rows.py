"""What a text says in rows: of each row something else."""

import pytest

from agenteval.grounding.claims import claims
from agenteval.grounding.rows import rows_around
from agenteval.grounding.source_text import SourceText
from agenteval.grounding.sources import json_source
from agenteval.grounding.support import support

JOBS = "lint: passed\nunit-tests: passed\ne2e-tests: failed\ndeploy: skipped"
TEAM = "The team:\nAda: engineer, Turin\nBen: designer, Oslo\nCleo: manager, Porto."
ROOMS = "Living room: heating off, window closed\nBedroom: heating on, window open\nKitchen: heating off, window open"
TASKS = "| Task | Owner | Status |\n|---|---|---|\n| API docs | Priya | ready |\n| Login page | Marco | started |\n| Billing | Priya | blocked |"
COLUMNS = "web-1   running   Oslo\nweb-2   stopped   Turin\ncron    running   Porto"
BOARD = (
    "09:38  IC 2229  Bruges    platform 11  on time\n"
    "09:47  S51      Eeklo     platform 2   cancelled\n"
    "09:54  IC 533   Brussels  platform 8   on time"
)
MAIL = "From: Ada Weber\nTo: Ben Krause\nSubject: Lunch with Ada\nDate: Friday"


def contradicted(claim: str, source: str) -> tuple[str, ...]:
    """What a source says otherwise than a claim."""
    (only,) = claims(f"- {claim}")
    return support(only, SourceText([json_source("evt-2", source)], [], []), ("wording",)).contradicted


@pytest.mark.parametrize(
    ("claim", "source", "found"),
    [
        ("lint failed", JOBS, ("failed",)),
        ("e2e-tests passed", JOBS, ("passed",)),
        ("deploy: passed", JOBS, ("passed",)),
        ("Ben is an engineer in Turin", TEAM, ("engineer", "Turin")),
        ("Ada is a designer", TEAM, ("designer",)),
        ("Cleo is from Oslo", TEAM, ("Oslo",)),
        ("The bedroom window is closed", ROOMS, ("closed",)),
        ("The window in the living room is open", ROOMS, ("open",)),
        ("The billing is started", TASKS, ("started",)),
        ("The API docs of Marco are ready", TASKS, ("Marco", "ready")),
        ("web-2 in Turin is running", COLUMNS, ("running",)),
        ("The S51 to Eeklo is on time", BOARD, ("time",)),
        ("The train to Brussels is cancelled", BOARD, ("cancelled",)),
        ("The IC 2229 to Bruges is cancelled", BOARD, ("cancelled",)),
    ],
)
def test_what_another_row_says(claim: str, source: str, found: tuple[str, ...]) -> None:
    """The row that the claim names says something else in that place."""
    assert contradicted(claim, source) == found


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("e2e-tests failed", JOBS),
        ("lint and unit-tests passed", JOBS),
        ("The deploy was skipped because e2e-tests failed", JOBS),
        ("Unlike lint, e2e-tests failed", JOBS),
        ("lint has not failed", JOBS),
        ("Ben is a designer in Oslo", TEAM),
        ("The manager is Cleo from Porto", TEAM),
        ("The bedroom window is open", ROOMS),
        ("The window in the living room is closed", ROOMS),
        ("Priya has API docs (ready) and billing (blocked)", TASKS),
        ("Marco has started the login page", TASKS),
        ("Owner of the login page: Marco", TASKS),
        ("web-1 is running in Oslo", COLUMNS),
        ("The S51 to Eeklo is cancelled, the trains to Bruges and Brussels are on time", BOARD),
        ("At 09:38 the IC 2229 to Bruges leaves on time", BOARD),
        ("The subject of Ada Weber's mail is lunch", MAIL),
        ("The date of lunch with Ben is Friday", MAIL),
    ],
)
def test_what_its_row_says(claim: str, source: str) -> None:
    """Or what it denies; and the fields of one thing are no rows."""
    assert contradicted(claim, source) == ()


@pytest.mark.parametrize(
    ("text", "sentence", "rows"),
    [
        (
            JOBS,
            "deploy: skipped",
            [["lint", "passed"], ["unit-tests", "passed"], ["e2e-tests", "failed"], ["deploy", "skipped"]],
        ),
        (f"Jobs\n\n{JOBS}\n\nx: y", "x: y", []),
        ("- a: 1\n- b: 1\nthe end", "b: 1", [["a", "1"], ["b", "1"]]),
        ("1. a: x, y\n2. b: z, y.", "a: x", [["a", "x", "y"], ["b", "z", "y"]]),
        ("a: x, y\nb: z, w", "a: x", []),
        ("a | b\n--|--\nc | d\ne | d", "e | d", [["c", "d"], ["e", "d"]]),
        ("a | b\n--|--\nc | d\ne | d", "a | b", [["c", "d"], ["e", "d"]]),
        ("a  b\nc  b\nd", "d", []),
        ("a\tb\nc\tb", "a\tb", [["a", "b"], ["c", "b"]]),
        ("It is so. It is not: so.", "It is so.", []),
        (f"a: 1\nb: 1{'x' * 400}", "b: 1", []),
        (f"a: 1\nb: 1\n{'x: ' * 2000}", "b: 1", [["a", "1"], ["b", "1"]]),
        (JOBS, "not there", []),
        ("", "", []),
    ],
)
def test_rows(text: str, sentence: str, rows: list[list[str]]) -> None:
    """Labelled lines, tables with bars, and columns; headings are none of them."""
    assert rows_around(text, sentence) == rows
