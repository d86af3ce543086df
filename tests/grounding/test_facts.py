"""Numbers, dates, references, names and quotes, in a form in which equal ones are equal."""

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenteval.grounding.dates import dates
from agenteval.grounding.links import links, within
from agenteval.grounding.quantities import quantities
from agenteval.grounding.wording import names, quotes, tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,234", "1234"),
        ("41%", "41 percent"),
        ("41%", "41 per cent"),
        ("$58bn", "58 billion dollars"),
        ("$58bn", "USD 58 billion"),
        ("€1.5m", "1,500,000 euros"),
        ("2M", "2 million"),
        ("2M-token", "2,000,000"),
        ("10k", "ten thousand"),
        ("3.50", "3.5"),
        ("412,50 €", "€412.5"),
        ("1.412,5", "1412.50"),
        ("12.345,90", "12345.9"),
        ("seven", "7"),
        ("twenty-one", "21"),
        ("4th", "fourth"),
        ("5 pm", "17:00"),
        ("5:30 p.m.", "17:30:00"),
        ("-5 points", "5 points"),
        ("共2100万人", "21 million"),
        ("共5.8千万人", "58,000,000"),
        ("共580亿人", "58 billion"),
        ("約２千人", "2000"),
        ("下午3点半", "15:30"),
        ("15時30分に", "15:30"),
    ],
)
def test_equal_quantities(one: str, other: str) -> None:
    """Value and unit are the same, however they are written."""
    mine, theirs = quantities(f"about {one}"), quantities(other)
    assert len(mine) == len(theirs) == 1
    assert mine[0].values & theirs[0].values
    assert mine[0].unit == theirs[0].unit


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("H100 and GPT-4 in v1.2.3 and Qwen2.5-72B", []),
        ("2010–2014", ["2010", "2014"]),
        ("24-hour, 10GB, 3.5x", ["24", "10", "3.5"]),
        ("at 2026-11-21T10:30:00Z", ["10:30:00"]),
        ("mid-2025", ["2025"]),
        ("59,90 and 1,234,567", ["59,90", "1,234,567"]),
        ("10,20,30", ["10", "20", "30"]),
        ("北京有2100万人口，占41%的份额", ["2100万", "41%"]),
        ("会議は3時間で、12日も3時に", ["3", "12", "3"]),
        ("使用GPT-4模型，版本为1.2.3，支持H100显卡", []),
        ("3月，2026年3月12日", []),
        ("nothing", []),
    ],
)
def test_what_is_a_quantity(text: str, found: list[str]) -> None:
    """Digits inside names are none; ranges are two; the day of a date is looked for elsewhere."""
    inside = [(date.start, date.end) for date in dates(text)]
    assert [quantity.text for quantity in quantities(text, inside)] == found


def test_what_is_skipped_may_lie_inside_other_spans() -> None:
    """The longest one counts to its end."""
    text = "x" * 49 + " 57 " + "x" * 50 + " 64"
    found = quantities(text, [(0, 100), (10, 12), (20, 22), (30, 32)])
    assert [quantity.text for quantity in found] == ["64"]


def test_a_letter_may_be_a_scale_or_a_unit() -> None:
    """`5m` is five metres or five million; `5M` and `$5m` are million."""
    assert quantities("5m")[0].values == {Decimal(5), Decimal(5_000_000)}
    assert quantities("5M")[0].values == {Decimal(5_000_000)}
    assert quantities("$5m")[0].values == {Decimal(5_000_000)}


def test_approximate_numbers_are_marked() -> None:
    """By the word before."""
    assert [quantity.about for quantity in quantities("nearly 60, ~$5 and 7")] == [True, True, False]


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21",
        "2026/11/21",
        "2026-11-21T10:00:00Z",
        "21 November 2026",
        "21st of November, 2026",
        "Nov 21, 2026",
        "November 21st, 2026",
        "Nov. 21 2026",
        "21.11.2026",
        "11/21/2026",
        "2026年11月21日",
        "2026 年 11 月 21 日",
        "2026년 11월 21일",
    ],
)
def test_equal_dates(text: str) -> None:
    """However a date is written."""
    [date] = dates(f"on {text}.")
    assert (date.year, date.month, date.day) == (2026, 11, 21)


def test_partial_dates() -> None:
    """A date agrees with another in what both state; one that can be read in two ways agrees with either."""
    [full], [day], [month], [either] = map(dates, ("2026-04-03", "April 3", "April 2026", "03/04/2026"))
    assert (day.year, day.month, day.day) == (None, 4, 3)
    assert (month.year, month.month, month.day) == (2026, 4, None)
    assert day.agrees(full)
    assert month.agrees(full)
    assert either.agrees(full)
    assert not full.covers(month)
    assert month.covers(full)
    assert dates("会议在4月3日")[0].agrees(full)
    [chinese] = dates("2026年4月")
    assert (chinese.month, chinese.day) == (4, None)
    [wrong] = dates("April 5")
    assert not wrong.agrees(full)
    assert not wrong.agrees(either)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 24, 25 and 31 December", [24, 25, 31]),
        ("on December 24, 25 and 31.", [24, 25, 31]),
        ("am 24., 25. und 31. Dezember", [24, 25, 31]),
        ("15-18 January", [15, 18]),
        ("January 15\u201318, 2027", [15, 18]),
        ("from the 3rd to 5th of May", [3, 5]),
        ("May 3rd to 5th", [3, 5]),
        ("March 2, 3 and 4 are free", [2, 3, 4]),
        ("May 3, 20 people came", [3]),
        ("On May 3 and 20 people came", [3]),
        ("May 3-5pm", [3]),
        ("May 3, 10:30", [3]),
        ("May 3, 8-10 am", [3]),
        ("On May 20 and 3.", [20]),
        ("room 9 and 5 May", [5]),
        ("10 and 40 May", []),
        ("10, 40 and 5 May", [5]),
        ("at 8.9 and 10 May", [10]),
        ("9, 10 May", [10]),
        ("3 to 2026-05-04", [4]),
        ("May 2026 and 27", [None]),
        ("expired 10/2026", [None]),
        ("3/10/2026", [10]),
        ("10/20266", []),
    ],
)
def test_lists_and_spans_of_days(text: str, days: list[int | None]) -> None:
    """They are of the month that one of them names, in order; other numbers beside a date are none."""
    found = dates(text)
    assert [date.day for date in found] == days
    assert len({date.month for date in found}) <= 1


@pytest.mark.parametrize(
    "text", ["November", "in 2026", "13/13/2026", "2026-13-01", "Marching 5", "32 May", "3月", "3个月"]
)
def test_what_is_no_date(text: str) -> None:
    """A month or a year alone, and what the calendar does not have."""
    assert dates(text) == []


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


def test_within() -> None:
    """A host is within its own domain and those above it."""
    assert within("a.b.example", "b.example")
    assert within("b.example", "b.example")
    assert not within("ab.example", "b.example")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Call Sam Altman, or ask Tim Cook.", ["Sam Altman", "Tim Cook"]),
        ("Yesterday Sam Altman met Tim Cook in Paris.", ["Sam Altman", "Tim Cook", "Paris"]),
        ("Revenue rose at Lab A.", ["Lab A"]),
        ("NVIDIA and GitHub rose. Apples fell.", ["NVIDIA", "GitHub"]),
        ("The White House said so.", ["White House"]),
        ("He met Dr. Jane O'Neil-Smith.", ["Jane O'Neil-Smith"]),
        ("I think A lab did it.", []),
        ("**Key Takeaway:** it rose.", []),
        ("BREAKING NEWS FROM THE LAB", ["BREAKING NEWS FROM THE LAB"]),
        ("Lab Ships New Model Today", []),
    ],
)
def test_names(text: str, found: list[str]) -> None:
    """Capitalised words and runs of them, not the ordinary word that begins a sentence, nor a title."""
    assert [name.text for name in names(text)] == found


def test_neither_begins_a_sentence_and_no_name() -> None:
    """As other words that open one."""
    assert [name.text for name in names("Neither Ada Brook nor Ben came.")] == ["Ada Brook", "Ben"]


def test_quotes_have_three_words() -> None:
    """In any quotation marks; shorter ones are only emphasis."""
    assert quotes('He said "so it goes" and “never give up”, „nie im Leben“, "not this".') == [
        "so it goes",
        "never give up",
        "nie im Leben",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "She said 'so it goes' and ‘never give up’, ‚nie im Leben‘.",
            ["so it goes", "never give up", "nie im Leben"],
        ),
        ("``A giant step'' said he.", ["A giant step"]),
        ("He wrote 'it's the band's best' on it.", ["it's the band's best"]),
        ("He wrote ‘it’s the band’s best’ on it.", ["it’s the band’s best"]),
        ("The dogs' owner met the cats' owner at the '90s party of rock 'n' roll.", []),
        ("It’s the dogs’ owner who isn’t here, and that’s all.", []),
        ("'Tis the dogs' owner that the '90s had, not the members' and singers' union.", []),
        ("Since '98, it is the fans' favourite. ‘Twas so in the ‘60s as the fans’ club knew.", []),
        ("Er sagte ‚Das war’s nun wirklich für uns‘ zu ihr.", ["Das war’s nun wirklich für uns"]),
        ("`` A giant step '' said he.", ["A giant step"]),
        ("They don't know what he's done since it's over.", []),
        ("'so it\ngoes on' he said", []),
    ],
)
def test_single_marks_are_quotes_unless_they_are_apostrophes(text: str, found: list[str]) -> None:
    """They open after no letter and close before none."""
    assert quotes(text) == found


def test_quotes_that_began_or_end_in_another_sentence() -> None:
    """What stands between two of them is no quote, whether the number of marks is even or odd."""
    assert quotes('Beta gamma delta" but then she told us "epsilon zeta is bad.') == []
    assert quotes('Beta gamma delta" but then she told us "so it goes".') == ["so it goes"]
    assert quotes('A 5" disk, and a 6" disk as well.') == []
    assert quotes('He said " so it goes " to all.') == [" so it goes "]


def test_tokens() -> None:
    """Folded, without possessive endings; hyphens divide."""
    assert tokens("B’s well-known STRASSE") == ["b", "well", "known", "strasse"]


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "A ",
        "A-",
        "A'",
        "1 ",
        "1,",
        "1.",
        "1:",
        "Nov 1 ",
        "2026-",
        "http://",
        "http://a.b/c ",
        "a.com ",
        "“",
        '"',
        "'",
        " 'a",
        "a'",
        "‘a",
        "‚a’",
        "`` ",
    ],
)
def test_a_long_text_is_read_in_linear_time(piece: str) -> None:
    """No text makes reading it explode."""
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    for read in (quantities, dates, links, names, quotes):
        read(text)
    read_once = links("http://x.example" + ")" * 100_000)
    assert read_once[0].key == "x.example"
    assert quotes("``" + " " * 100_000) == []
    assert time.process_time() - start < 5


@given(st.text(alphabet="aA1.,:/-%$ \"'“”()[]Nov202h\n"))
def test_any_text_can_be_read(text: str) -> None:
    """Spans lie inside the text and hold what they say."""
    for link in links(text):
        assert text[link.start : link.end] == link.text
    for date in dates(text):
        assert text[date.start : date.end] == date.text
    for quantity in quantities(text):
        assert quantity.text in text[quantity.start : quantity.end]
    names(text)
    quotes(text)
