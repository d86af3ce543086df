"""YAML into plain data: what it means, what is refused, and where things are."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agenteval.contracts.errors import FileError, Problem
from agenteval.reading import yamlsource
from agenteval.reading.yamlsource import load_yaml, places

PATH = Path("test.yaml")


def load(text: str) -> Any:
    """The data of a text."""
    return load_yaml(text, PATH)


def refusal(text: str) -> Problem:
    """The only problem of a text."""
    with pytest.raises(FileError) as caught:
        load(text)
    (problem,) = caught.value.problems
    assert problem.path == PATH
    return problem


def told(text: str) -> tuple[str, str, str]:
    """Reason code, `line:column` and message of the only problem of a text."""
    problem = refusal(text)
    return problem.reason_code, f"{problem.line}:{problem.column}", problem.message


@pytest.fixture(params=["libyaml", "python"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with libyaml, and with the parser that stands in for it."""
    if request.param == "python":
        monkeypatch.setattr(yamlsource, "_parser", lambda: yamlsource._PythonParser)


pytestmark = pytest.mark.usefixtures("_parser")

DOCUMENT = """\
# a comment
schema_version: "0.1"
id: &id nanoclaw.memory.recall.brief
tags: [a, 'b', "c\\n"]
scenario:
  input_messages:
  - role: user
    content: |
      two
      lines
  - {role: user, content: flow, n: 1, f: 1.5, yes_: yes, no_: No, nil: ~}
  empty:
  again: *id
"""


def test_a_document_becomes_plain_data() -> None:
    """Block and flow style, quotes, block scalars, anchors and comments."""
    assert load(DOCUMENT) == {
        "schema_version": "0.1",
        "id": "nanoclaw.memory.recall.brief",
        "tags": ["a", "b", "c\n"],
        "scenario": {
            "input_messages": [
                {"role": "user", "content": "two\nlines\n"},
                {
                    "role": "user",
                    "content": "flow",
                    "n": 1,
                    "f": 1.5,
                    "yes_": True,
                    "no_": False,
                    "nil": None,
                },
            ],
            "empty": None,
            "again": "nanoclaw.memory.recall.brief",
        },
    }


PLAIN = [
    *"yes Yes YES no on On off OFF true True TRUE false yEs y n ~ null Null NULL nULL none".split(),  # noqa: SIM905
    *"0 1 -1 +1 1_000 0x1F 0X1F 0b101 0o17 017 08 -017 1__0 0x_ 0b_ 00 -0 +0 0_0".split(),  # noqa: SIM905
    *"1.5 -1.5 .5 -.5 1. 1e3 1.0e3 1.0e+3 1.0E-3 1_0.5 ._5 1.5.2 - + . 12e03 0.1".split(),  # noqa: SIM905
    *("1a", "a1", "-a", "1-2", "=", "<", "1 2", "9" * 18, "9" * 19, "18446744073709551615"),
    *("-9223372036854775808", "x" * 60, "1" * 10 + "x" * 60, "1\u0662"),
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_scalars_mean_what_they_mean_to_pyyaml(text: str) -> None:
    """In value and in type, but for what the next tests say."""
    try:
        expected = yaml.safe_load(f"- {text}")
    except (yaml.YAMLError, ValueError):  # PyYAML has no value for `=`, and none for `0x_`
        expected = [text]
    found = load(f"- {text}")
    assert found == expected
    assert type(found[0]) is type(expected[0])


@pytest.mark.parametrize(
    "text", ["2026-01-05", "2026-01-05T08:00:00Z", "2026-01-05 08:00:00", "12:30", "1:2:3", "-1:30", "1:30.5"]
)
def test_dates_and_base_60_numbers_stay_text(text: str) -> None:
    """A time of day is not a number of minutes, and JSON has no dates."""
    assert load(f"at: {text}") == {"at": text}


def test_quotes_make_text() -> None:
    """Whatever stands between them."""
    assert load("""['yes', "1", '', "~", '<<']""") == ["yes", "1", "", "~", "<<"]


def test_core_tags_are_honoured() -> None:
    """An author may say what a value is, as long as it is so."""
    text = "[!!str 1, !!int '3', !!float 2, !!bool 'yes', !!null '', !!str , !!map {a: 1}, !!seq [1]]"
    found = load(text)
    assert found == ["1", 3, 2.0, True, None, "", {"a": 1}, [1]]
    assert type(found[2]) is float


NEXT_STEPS = {
    "yaml.key_not_string": "put the key in quotes",
    "yaml.number": "put it in quotes if it is meant as text",
    "yaml.tag": "remove the tag",
}


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("a: !!int x", "yaml.tag", "1:4", "!!int does not fit 'x'"),
        ("a: !!bool 3", "yaml.tag", "1:4", "!!bool does not fit '3'"),
        ("a: !!float true", "yaml.tag", "1:4", "!!float does not fit 'true'"),
        ("a: !include x", "yaml.tag", "1:4", "the tag !include has no meaning here"),
        ("a: !!binary x", "yaml.tag", "1:4", "the tag !!binary has no meaning here"),
        ("a: !!map [b]", "yaml.tag", "1:4", "the tag !!map has no meaning here"),
        ("!x a: 1", "yaml.tag", "1:1", "the tag !x has no meaning here"),
        ("a: .nan", "yaml.number", "1:4", ".nan is not a number that JSON can hold"),
        ("a: 18446744073709551616", "yaml.number", "1:4", "the integer does not fit into 64 bits"),
        ("a: -9223372036854775809", "yaml.number", "1:4", "the integer does not fit into 64 bits"),
        (f"a: {'9' * 5000}", "yaml.number", "1:4", "the integer does not fit into 64 bits"),
        ("a: 0xFFFFFFFFFFFFFFFFF", "yaml.number", "1:4", "the integer does not fit into 64 bits"),
        ("a: 1.0e+999", "yaml.number", "1:4", "the number is too large"),
        ("yes: 1", "yaml.key_not_string", "1:1", "a key must be a string, this one is the boolean true"),
        ("a:\n  1: x", "yaml.key_not_string", "2:3", "a key must be a string, this one is the number 1"),
        ("{~: x}", "yaml.key_not_string", "1:2", "a key must be a string, this one is nothing (null)"),
        ("? [a]\n: b", "yaml.key_not_string", "1:3", "a key must be a string, this one is a list"),
        ("{{a: b}: c}", "yaml.key_not_string", "1:2", "a key must be a string, this one is a mapping"),
        ("a: &a [x, *a]", "yaml.recursive_alias", "1:11", "the alias *a stands inside its own anchor"),
        ("&a a: &b {c: *b}", "yaml.recursive_alias", "1:14", "the alias *b stands inside its own anchor"),
        (
            "a: 1\n---\nb: 2",
            "yaml.multiple_documents",
            "2:1",
            "a second document begins here; a file holds only one",
        ),
        ("", "yaml.empty", "1:1", "the file is empty: it holds no data"),
        ("---\n...\n", "yaml.empty", "1:4", "the file is empty: it holds no data"),
        ("a: @b", "yaml.syntax", "1:4", "a text cannot begin with '@' here"),
        ("a: b: c", "yaml.syntax", "1:5", "a key with a value is not allowed here"),
        ("a: \ud800", "yaml.syntax", "1:4", "the character U+D800 is not allowed in YAML"),
        ("<<: 1", "yaml.syntax", "1:5", "<< merges mappings, and this is not one"),
        ("<<: [{a: 1}, b]", "yaml.syntax", "1:5", "<< merges mappings, and this is not one"),
    ],
)
def test_what_is_refused(text: str, code: str, place: str, message: str) -> None:
    """Each kind of refusal has its reason code, its place, its words and its next step."""
    found = told(text)
    assert code not in NEXT_STEPS or refusal(text).next_step == NEXT_STEPS[code]
    if text.startswith("---"):  # the parsers disagree on where nothing is
        found = (*found[:1], place, *found[2:])
    assert found == (code, place, message)


LIST = "the list that begins in line 2 cannot go on like this"
MAPPING = "the mapping that begins in line 1 cannot go on like this"
NO_ESCAPE = "in double quotes a backslash begins an escape, and this is not one"
NO_KEY = "expected a key with ': ' after it, a colon and a space"
TOO_FAR = "this key is indented further than the one before it, which has a value"
STEPS = {
    LIST: "begin each item with '- ', a dash and a space, at one column; indent the keys of an item equally",
    MAPPING: "indent its keys equally; if they are, an earlier quote is not closed, or closed too early",
    NO_ESCAPE: "put a regular expression or a path in single quotes, where a backslash is just that",
    NO_KEY: "write `key: value`; indent a text that continues on the next line",
    TOO_FAR: "indent keys that belong together equally",
    "the quote that begins here is not closed": "close it",
    "no anchor &b comes before the alias *b": "put a text that begins with '*' in quotes",
    "a tab cannot indent YAML": "indent with spaces",
    "the character U+0007 is not allowed in YAML": "remove it, or write it as an escape in quotes",
    "a list cannot begin here": "begin it on a line of its own, or write [a, b]",
    "expected a value here": "add it, or close the bracket; put a text that begins with '#' in quotes, or it is a comment",
}
OPEN = "add what is missing; put a text that holds ', \", #, a comma or a bracket in quotes"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a:\n  - id: x\n   - id: y\n", 3, LIST),
        ("a:\n  - id: x\n  -id: y\n", 3, LIST),
        ("a:\n  b: 1\n c: 2\n", 3, MAPPING),
        ('a: "x\nb: "y"\n', 2, MAPPING),
        ("- id: x\n    type: y\n", 2, TOO_FAR),
        ("params:\ntool: x\n\n  type: y\n", 4, TOO_FAR),
        ("a: b\n  c d\n  type: y\n", 2, NO_KEY),
        ("a:b\nc: 1\n", 1, NO_KEY),
        ("a: 1\nb = 2\nc: 3\n", 2, NO_KEY),
        ("a: 'x\nb: 1\n", 1, "the quote that begins here is not closed"),
        ('a: "\\d+"', 1, NO_ESCAPE),
        ("a: {b: 'it's'}", 1, "expected ',' or '}' here: '{' in line 1 is still open"),
        ("a: {b: 1 c: 2}", 1, "expected ',' or '}' here: '{' in line 1 is still open"),
        ("a: [b\n", 2, "expected ',' or ']' here: '[' in line 1 is still open"),
        ("a: [b, #c]\n", 2, "expected a value here"),
        ("a: - b\n", 1, "a list cannot begin here"),
        ("a: *b", 1, "no anchor &b comes before the alias *b"),
        ("a:\n  b: 1\n\tc: 2\n", 3, "a tab cannot indent YAML"),
        ("a: x\n  \x07", 2, "the character U+0007 is not allowed in YAML"),
    ],
)
def test_slips_are_told_in_words_for_authors(text: str, line: int, message: str) -> None:
    """By both parsers alike: where, what, and what to do."""
    problem = refusal(text)
    assert (problem.reason_code, problem.line, problem.message) == ("yaml.syntax", line, message)
    assert problem.next_step == STEPS.get(message, OPEN)


def test_other_syntax_errors_are_told_as_the_parser_tells_them() -> None:
    """With the place of the problem."""
    problem = refusal("a: >x\n b")
    assert (problem.reason_code, problem.line) == ("yaml.syntax", 1)
    assert problem.message.startswith("not valid YAML: ")
    assert problem.message.endswith(" while scanning a block scalar")


def test_an_error_shows_the_text() -> None:
    """Excerpt, caret and what to do."""
    assert refusal("a: 1\non: 2\n").render() == (
        "test.yaml:2:1: error[yaml.key_not_string]: a key must be a string, this one is the boolean true\n"
        "   1 | a: 1\n"
        "   2 | on: 2\n"
        "     | ^^\n"
        "   next: put the key in quotes"
    )


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a: 1\nb:\n  c: [{a: 2}]\na: 3", "4:1", "the key 'a' is given twice"),
        ("b: 1\na:\n  b: 2\n  c: {b: 3}\n  b: 4", "5:3", "the key 'b' is given twice"),
        ("{a: 1, 'a': 2}", "1:8", "the key 'a' is given twice"),
        ("- a: 1\n- a: 1\n  b: 2\n  b: 3", "4:3", "the key 'b' is given twice"),
        ("x: {a: 1}\ny: {a: 1, b: *z, a: 2}\nz: &z 1", None, None),
        ("k: &k v\nv: 1\n*k : 2", "3:1", "the key 'v' is given twice"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n  <<: *x", "5:3", "the key '<<' is given twice"),
    ],
)
def test_a_key_given_twice(text: str, place: str | None, message: str | None) -> None:
    """The last of two equal keys does not silently win."""
    found = told(text)
    if place:
        assert found == ("yaml.duplicate_key", place, message)
    else:
        assert found[0] == "yaml.syntax"


def test_merge_keys() -> None:
    """Own keys win over merged ones, earlier merged mappings over later ones."""
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: *a, x: 3}\nd: {x: 4, <<: [*a, *b]}\n'<<': 5"
    found = load(text)
    assert found["c"] == {"x": 3, "y": 1}
    assert found["d"] == {"x": 4, "y": 1, "z": 2}
    assert found["<<"] == 5
    assert found == yaml.safe_load(text)


def test_an_alias_shares_its_value() -> None:
    """Nothing is copied, so that aliases cost no memory."""
    found = load("a: &a [1, {b: 2}]\nc: *a\nd: [*a]")
    assert found == {"a": [1, {"b": 2}], "c": [1, {"b": 2}], "d": [[1, {"b": 2}]]}
    assert found["c"] is found["a"]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "- - ", "[{a: "])
def test_deep_nesting_is_refused(opening: str) -> None:
    """A hundred levels are read; one more, or ten thousand, are an error and not a crash."""
    problem = refusal(opening * 10_000)
    assert problem.reason_code in ("yaml.too_deep", "yaml.syntax", "yaml.key_not_string")
    assert problem.message == "mappings and lists are nested more than 100 levels deep"


def test_a_hundred_levels_are_read() -> None:
    """The limit is inclusive."""
    load("[" * 100 + "]" * 100)
    assert told("[" * 101 + "]" * 101)[:2] == ("yaml.too_deep", "1:101")
    assert told("b: " + "[" * 10_000)[:2] == ("yaml.too_deep", "1:103")
    assert told("{a: 1, a: 2, b: " + "[" * 10_000)[:2] == ("yaml.duplicate_key", "1:8")


def bomb(levels: int) -> str:
    """Lists of ten aliases each, of lists of ten aliases each, and so on."""
    lines = (f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 10)}]" for level in range(1, levels))
    return "\n".join(["l0: &l0 [x, x, x, x, x, x, x, x, x, x]", *lines])


def test_an_alias_bomb_is_refused() -> None:
    """What aliases stand for is counted each time, before it is made."""
    problem = refusal(bomb(20))
    assert problem.reason_code == "yaml.too_many_nodes"
    assert problem.message == (
        "the file holds more than 200,000 values (each use of an alias counts in full)"
    )
    assert problem.line == 6
    assert problem.next_step == (
        "move large data into a JSON file of its own, or raise limits.max_yaml_nodes in agenteval.yaml"
    )
    assert load(bomb(4))["l3"][9][9][9][9] == "x"


def test_a_bomb_of_merge_keys_is_refused() -> None:
    """Merging counts as using an alias."""
    many = ", ".join(f"k{n}: 1" for n in range(1000))
    text = f"a: &a {{{many}}}\nb:\n" + "- <<: *a\n" * 200
    assert told(text)[0] == "yaml.too_many_nodes"


def test_a_file_of_very_many_values_is_refused_early() -> None:
    """The rest of the file is not read."""
    assert told("- a\n" * 250_000 + "*")[:2] == ("yaml.too_many_nodes", "200000:3")


def test_a_file_at_the_limit_is_read() -> None:
    """The limit counts values and keys, and is inclusive; a long list of small values is no attack."""
    assert load_yaml("{a: [b]}", PATH, max_nodes=4) == {"a": ["b"]}
    with pytest.raises(FileError, match="the file holds more than 3 values"):
        load_yaml("{a: [b]}", PATH, max_nodes=3)
    assert len(load("- a\n" * 190_000)) == 190_000


KEYS = st.sampled_from(["a", "b", "c d", "<<x", "1x", "-", "é", "true_"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]))
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(DATA.filter(lambda data: data is not None), st.booleans())
@example({"a": "2026-01-01"}, True)
def test_what_pyyaml_writes_is_read_back(data: Any, flow: bool) -> None:
    """Whatever data is, written in block or flow style."""
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True)
    assert load(text) == data


def at(text: str, *path: str | int, at_key: bool = False) -> tuple[int, int, int]:
    """Line, column and span of a place."""
    found = places(text, [(path, at_key)])[0]
    return found.line, found.column, found.span


def test_places_of_values_and_keys() -> None:
    """A scalar is underlined as a whole; of a block, its key is."""
    assert at(DOCUMENT, "schema_version") == (2, 17, 5)
    assert at(DOCUMENT, "schema_version", at_key=True) == (2, 1, 14)
    assert at(DOCUMENT, "tags") == (4, 7, 1)
    assert at(DOCUMENT, "tags", 2) == (4, 16, 5)
    assert at(DOCUMENT, "scenario") == (5, 1, 8)
    assert at(DOCUMENT, "scenario", "input_messages", 0) == (7, 5, 1)
    assert at(DOCUMENT, "scenario", "input_messages", 0, "content") == (8, 14, 1)
    assert at(DOCUMENT, "scenario", "input_messages", 1, "n", at_key=True) == (11, 33, 1)
    assert at(DOCUMENT, "scenario", "again")[:2] == (3, 5)
    assert at(DOCUMENT)[:2] == (2, 1)


def test_what_is_not_there_is_placed_at_what_holds_it() -> None:
    """So that a missing key points at the mapping that lacks it."""
    assert at(DOCUMENT, "scenario", "nothing") == (5, 1, 8)
    assert at(DOCUMENT, "scenario", "nothing", "empty") == (5, 1, 8)
    assert at(DOCUMENT, "tags", 3) == at(DOCUMENT, "tags", 9) == (4, 7, 1)
    assert at(DOCUMENT, "id", "x", 0)[:2] == (3, 5)


def test_merged_keys_are_placed_where_they_are_written() -> None:
    """Not where they are merged."""
    text = "a: &a\n  x: 1\nb: &b {y: 2}\nc:\n  <<: [*b, *a]\n  z: 3\n"
    assert at(text, "c", "x") == (2, 6, 1)
    assert at(text, "c", "y") == (3, 11, 1)
    assert at(text, "c", "w") == (4, 1, 1)
    assert at("a: &a {x: 1}\nb:\n  y: {x: 2}\n  <<: *a\n", "b", "x") == (1, 11, 1)


def test_several_places_in_one_reading() -> None:
    """In the order asked for."""
    found = places("a: 1\nb: 2\n", [(("b",), False), (("a",), True)])
    assert [(each.line, each.column) for each in found] == [(2, 4), (1, 1)]
