"""What an output may rest on, read into passages."""

import json
from typing import Any

import pytest

from agenteval.grounding.sources import (
    Source,
    call_sources,
    input_sources,
    memory_sources,
    read,
    sentences_of,
    successful_results,
    texts_of,
)
from builders import call, make_case, make_trace, memory_read, result


def records(value: Any) -> list[str]:
    """What the objects of a value say."""
    return [passage.text for passage in read([Source("evt-2", value)]) if passage.is_record]


def test_an_object_says_its_short_fields() -> None:
    """With their names as words; what is true, false or empty is told so, and a long text is prose."""
    value = {
        "title": "Dentist",
        "startsAt": "09:00",
        "room_no": None,
        "moved": False,
        "free": "yes",
        "country": "NO",
        "tags": ["a", "b"],
        "note": "A text of more than eight words is prose by itself. It has two sentences.",
        "url": "https://a.example/x",
        "many": list(range(30)),
    }
    passages = read([Source("evt-2", value)])
    assert passages[0].text == (
        "title: Dentist; starts at: 09:00; no room no; not moved; free; country: NO; tags: a, b"
    )
    assert [passage.text for passage in passages[1:4]] == [
        "A text of more than eight words is prose by itself.",
        "It has two sentences.",
        "https://a.example/x",
    ]
    assert passages[4].text == "many: 0"
    assert {passage.item.number for passage in passages if passage.item} == {0}


def test_an_object_under_a_name_is_told_with_it() -> None:
    """Objects beside each other that have fields in common are a list; so are those in one."""
    passages = read([Source("e", {"AAPL": {"price": 1}, "MSFT": {"price": 2}, "other": {"open": True}})])
    assert [passage.text for passage in passages] == ["AAPL > price: 1", "MSFT > price: 2", "other > open"]
    groups = [passage.item.group for passage in passages if passage.item]
    assert groups[0] == groups[1] == groups[2] is not None
    [one, two] = read([Source("e", [{"id": 1}, {"id": 2}])])
    assert one.item
    assert two.item
    assert one.item.group == two.item.group is not None
    [single] = read([Source("e", {"id": 1})])
    assert single.item
    assert single.item.group is None


@pytest.mark.parametrize(
    "value",
    [
        '{"id": 7, "name": "x"}',
        'Found: {"id": 7, "name": "x"}. That is all.',
        [{"type": "text", "text": '{"id": 7, "name": "x"}'}],
    ],
)
def test_json_in_a_text_is_data(value: Any) -> None:
    """A text that is JSON, holds some, or is wrapped as MCP does."""
    assert "id: 7; name: x" in records(value)


def test_where_a_passage_stands() -> None:
    """A JSON pointer into the event, which goes on inside a text that is JSON."""
    source = Source(
        "evt-2",
        {"a/b": [{"t": json.dumps({"x": "A text of nine words is what this is here."})}]},
        ((), "data"),
    )
    *_, passage = read([source])
    assert passage.pointer == "/data/a~1b/0/t/x"
    assert read([Source("evt-2", "text")])[0].pointer is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It ended. The next began!", ["It ended.", "The next began!"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        (
            "Mr. Ek met J. Hall at St. Anne for 3.5 km. 12 came.",
            ["Mr. Ek met J. Hall at St. Anne for 3.5 km.", "12 came."],
        ),
        ("am 24. Dezember ist zu. Im Jahr 2026. Dann", ["am 24. Dezember ist zu.", "Im Jahr 2026.", "Dann"]),
        ("one\n\ntwo", ["one", "two"]),
        ("see www.a.example/b.htm for it", ["see www.a.example/b.htm for it"]),
        ("It ended.The next began", ["It ended.", "The next began"]),
        ("会议结束。下一个", ["会议结束。", "下一个"]),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    """A mark ends one where the next may begin, and no abbreviation or ordinal has it."""
    assert sentences_of(text) == found


def test_texts_are_read_as_people_see_them() -> None:
    """Without entities of HTML and subscripts; a blank text says nothing."""
    assert texts_of(["Tom &amp; Jerry breathe CO₂ and more of it there", " ", None, True]) == [
        "Tom & Jerry breathe CO2 and more of it there"
    ]


def test_nesting_without_end() -> None:
    """Is read without recursion."""
    value: Any = '{"a":' * 900 + '"The pool opens at 9 for all of us."' + "}" * 900
    for _ in range(60):
        value = [value]
    assert "The pool opens at 9 for all of us." in texts_of(value)


def test_results_calls_input_and_memory() -> None:
    """Successful results of allowed tools; arguments but what the agent wrote; messages; memory that was read or stated."""
    trace = make_trace(
        call("web_fetch", "c1", url="https://a.example", query="x"),
        result("web_fetch", "c1", {"text": "y"}),
        call("shell", "c2", command="ls", nested={"path": "b", "note": "z"}),
        result("shell", "c2", "out", success=False),
        memory_read("main", "Ann likes tea."),
        asked="What now?",
    )
    [event] = successful_results(trace, [])
    assert successful_results(trace, ["shell"]) == []
    assert [source.value for source in call_sources([event], trace)] == [["https://a.example"]]
    assert [source.value for source in input_sources(trace)] == ["What now?"]
    case = make_case(scenario={"memory_snapshot": [{"path": "CLAUDE.md", "content": "Rex is a dog."}]})
    assert [source.value for source in memory_sources(trace, case)] == ["Ann likes tea.", ["Rex is a dog."]]
