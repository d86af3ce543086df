"""References in a form in which equal ones are equal."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.grounding.links import addresses, links, within


@pytest.mark.parametrize(
    "written",
    [
        "https://news.example.com/a",
        "http://www.news.example.com/a/",
        "https://NEWS.example.com:443/a#top",
        "https://news.example.com/a?utm_source=x&gclid=1",
        "(https://news.example.com/a).",
        "[A](https://news.example.com/a)",
        "<https://news.example.com/a>",
        "**https://news.example.com/a**,",
        "“https://news.example.com/a”",
        "news.example.com/a",
    ],
)
def test_equal_urls(written: str) -> None:
    """Scheme, www., port, slash, fragment, tracking and what follows in prose do not count."""
    assert [(link.kind, link.key) for link in links(f"see {written} now")] == [("url", "news.example.com/a")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://x.example/a?b=2&a=1", [("url", "x.example/a?a=1&b=2")]),
        ("https://x.example/A_(b)", [("url", "x.example/A_(b)")]),
        ("https://x.example:8080/a", [("url", "x.example:8080/a")]),
        ("says example.com, and news.bbc.co.uk.", [("domain", "example.com"), ("domain", "news.bbc.co.uk")]),
        ("doi:10.1000/xyz123.", [("doi", "10.1000/xyz123")]),
        ("https://doi.org/10.1000/XYZ123", [("doi", "10.1000/xyz123")]),
        ("arXiv:2301.12345v2", [("arxiv", "2301.12345")]),
        ("https://arxiv.org/abs/2301.12345", [("arxiv", "2301.12345")]),
        ("bob@example.com wrote Node.js, README.md, e.g. in the U.S. today.It", []),
        ("https://[broken and http://", []),
        ("详见a.example网站、https://x.example/a、谢谢", [("domain", "a.example"), ("url", "x.example/a")]),
        ("https://x.example/北京", [("url", "x.example/%E5%8C%97%E4%BA%AC")]),
    ],
)
def test_references(text: str, found: list[tuple[str, str]]) -> None:
    """URLs, domains, DOIs and arXiv ids; addresses, file names and abbreviations are none."""
    assert [(link.kind, link.key) for link in links(text)] == found


def test_addresses() -> None:
    """Without the punctuation around them; no package with its version."""
    assert [link.text for link in addresses("ask bob@example.com. or (jo@x.example), react@18.2.0")] == [
        "bob@example.com",
        "jo@x.example",
    ]


def test_within() -> None:
    """A host is within its own domain and those above it."""
    assert within("a.b.example", "b.example")
    assert within("b.example", "b.example")
    assert not within("ab.example", "b.example")


@pytest.mark.parametrize("piece", ["a", "A-", "1.", "http://", "http://a.b/c ", "a.com ", "a@b.com "])
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    """No text makes reading it explode."""
    start = time.process_time()
    links(piece * (100_000 // len(piece)))
    assert links("http://x.example" + ")" * 100_000)[0].key == "x.example"
    assert time.process_time() - start < 5


@given(st.text(alphabet="aA1.,:/-%@ ()[]comnet\n"))
def test_any_text_can_be_read(text: str) -> None:
    """Spans lie inside the text and hold what they say."""
    for link in links(text):
        assert text[link.start : link.end] == link.text
