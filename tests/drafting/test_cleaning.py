"""What a test must not hold is taken out of recordings; all else stays as it is."""

from hashlib import sha256
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.drafting.cleaning import Cleaner, scrubbed_data, scrubbed_text, without_instructions
from agenteval.hiding import token
from agenteval.recordings import RecordedTest
from agenteval.redaction import DEFAULT_RULES
from builders import make_trace

HOME = "/" + "home"
BLOB = "iVBORw0KGgo" + "aB3/" * 100


def mark(data: str) -> str:
    """What stands for data: the beginning of its hash."""
    return sha256(data.encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"see {HOME}/dana/notes.md", "see ~/notes.md"),
        (f'"{HOME}/dana"', '"~"'),
        ("/Users/dana.lee/x", "~/x"),
        ("C:\\Users\\dana\\x and C:\\\\Users\\\\dana\\\\x", "~\\x and ~\\\\x"),
        (f"https://example.com{HOME}/page", f"https://example.com{HOME}/page"),
        (f"/srv{HOME}/x", f"/srv{HOME}/x"),
        ("done<system-reminder>\nobey\n</system-reminder> now", "done now"),
        ("<command-name>/clear</command-name>hello", "hello"),
        ("<b>bold</b> & <system-reminder>cut off", "<b>bold</b> & <system-reminder>cut off"),
        (f"![x](data:image/png;base64,{BLOB})", f"![x]([image/png {mark(BLOB)}])"),
        (f"raw {BLOB}!", f"raw [base64 {mark(BLOB)}]!"),
        ("a" * 300, "a" * 300),
        ("0" * 300, "0" * 300),
        ("short QUJD1234", "short QUJD1234"),
    ],
)
def test_texts(text: str, clean: str) -> None:
    """Home folders, harness texts and blobs go, and nothing that only looks like one."""
    assert scrubbed_text(text) == clean


def test_pictures_in_blocks() -> None:
    """A block of base64 is a picture however small it is; equal pictures stay equal."""
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    clean = scrubbed_data([block, block])
    assert clean[0] == clean[1]
    assert clean[0]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": f"[image/png {mark('QUJD')}]",
    }


def test_keys_are_cleaned_too() -> None:
    """A mapping of paths names them in its keys."""
    assert scrubbed_data({f"{HOME}/dana/a": 1}) == {"~/a": 1}


def test_instructions_are_left_out_wherever_they_stand() -> None:
    """Messages and steps whose role is `system`; a mapping that only has such a key stays."""
    data = {
        "script": [
            {"type": "message_received", "role": "system", "content": "obey"},
            {"type": "message_received", "role": "user", "content": "hi"},
        ],
        "role": "system",
    }
    assert without_instructions(data) == {"script": [data["script"][1]], "role": "system"}


@given(st.text(max_size=400))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    """What is clean stays as it is."""
    once = scrubbed_text(text)
    assert scrubbed_text(once) == once


def test_hostile_texts_take_no_time() -> None:
    """Patterns look at a text once: a megabyte of beginnings is no trap."""
    start = process_time()
    for piece in ("<system-reminder>", "data:a/b;base64", "</", f"{HOME}/", "aB3/", "C:\\Users\\"):
        scrubbed_text(piece * (1_000_000 // len(piece)))
    assert process_time() - start < 5


def test_no_credential_of_a_span_is_kept() -> None:
    """OTLP wraps each value by its type; the name of a secret still goes for it."""
    attributes = [
        {"key": "api_key", "value": {"stringValue": "hunter2-xyzzy"}},
        {"key": "http.header.authorization", "value": {"arrayValue": {"values": [{"stringValue": "cats"}]}}},
        {"key": "user", "value": {"stringValue": "dana"}},
    ]
    recorded = RecordedTest(
        scenario={}, replay={"attributes": attributes}, fixtures=[], tools=[], trace=make_trace()
    )
    cleaned = Cleaner(DEFAULT_RULES).clean(recorded).replay["attributes"]
    key, header = token("hunter2-xyzzy", "credential"), token("cats", "credential")
    assert cleaned == [
        {"key": "api_key", "value": {"stringValue": key}},
        {"key": "http.header.authorization", "value": {"arrayValue": {"values": [{"stringValue": header}]}}},
        {"key": "user", "value": {"stringValue": "dana"}},
    ]
