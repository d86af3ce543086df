"""Finds personal data and addresses in texts: e-mail, phone and card numbers, IP addresses.

A finding is a kind and a place, so that nobody has to repeat the data. The rules are strict rather than wide:
a date, a version, a time or an id of digits alone is none of these.

email
    An address with a top-level domain of letters; `git@github.com` is no person's, and neither is a chat of WhatsApp.
phone
    An international number (`+49 171 2345678`, `0049 …`), a number with an area code in the North American form
    (`(555) 223-4567`, `555-223-4567`), or a national one that begins with 0 and has groups (`0171 2345678`,
    `(0171) 2345678`, `06.12.34.56.78`); and the number in the address of a person's chat in WhatsApp.
credit_card
    13 to 19 digits, in one piece or in groups, that begin as an issuer's do, are as many, and pass the Luhn check.
ip
    An IPv4 address, or an IPv6 address whose first group has four digits. Loopback, unspecified and mask addresses and
    large networks (`127.0.0.1`, `0.0.0.0`, `255.255.255.0`, `10.0.0.0`) name no machine and are none. Nor is what
    follows `version`, `release`, `build` or `v`, or stands under such a key.
"""

import re
from collections.abc import Callable, Iterator

from agenteval.redaction.keys import Found
from agenteval.text.lazy_regexes import lazy

Span = tuple[int, int]


def personal_data(text: str, key: str = "") -> list[Found]:
    """Find personal data in a text, in order; `key` names the text in the data. The time is linear in its length."""
    if not text.isascii():
        text = text.translate(_PLAIN)
    if not _DIGITS.search(text):
        return [Found("email", *span) for span in emails(text)]
    found = {kind: list(finder(text)) for kind, finder in _FINDERS.items()}
    found["phone"] = [
        span for span in found["phone"] if not any(_overlap(span, card) for card in found["credit_card"])
    ]
    if _VERSION.search(f"{key}:"):
        found["ip"] = [span for span in found["ip"] if span[0] > 0]
    every = [Found(kind, *span) for kind, spans in found.items() for span in spans]
    return sorted(every, key=lambda each: (each.start, each.end))


_PLAIN = str.maketrans(
    "\u00a0\u2007\u2009\u202f\u2010\u2011\u2013\uff0b\uff0d\uff0e\uff20"
    + "".join(map(chr, (*range(0xFF10, 0xFF1A), *range(0x660, 0x66A)))),
    "    ---+-.@" + "0123456789" * 2,
)
"""Blanks, dashes and digits that typography and other keyboards have, as the patterns know them."""


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


_EMAIL = lazy(
    r"(?<![\w.+%-])(?!git@)[\w.+%-]{1,64}@(?![0-9]x\.|(?:[0-9]+\.){2})"
    r"(?:[^\W_](?:(?:[^\W_]|-){0,61}[^\W_])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])"
)
"""The host is no size of a picture (`logo@2x.png`), and no version (`left-pad@1.3.0.tgz`)."""


def emails(text: str) -> Iterator[Span]:
    """Find the e-mail addresses of a text."""
    if "@" in text:
        yield from (match.span() for match in _EMAIL.finditer(text))


_CHATS = ("@g.us", "@s.whatsapp.net", "@c.us")


def _mailboxes(text: str) -> Iterator[Span]:
    yield from ((start, end) for start, end in emails(text) if not text.endswith(_CHATS, start, end))


# Here and below a letter right beside a number is of A to Z: other scripts may have no blank there.
_PHONE = lazy(
    r"""(?<![A-Za-z0-9+./-])(?<!\w_)(?<![0-9]:)(?:  # `tel:` may stand before it, not a time
        \+[1-9](?:[ ().\-/]{0,2}[0-9]){7,14}                            # international
      | [1-9][0-9]{7,14}(?=@(?:s\.whatsapp\.net|c\.us))
      | (?:1[ .\-])?(?:\([2-9][0-9]{2}\)[ ]?|[2-9][0-9]{2}[ .\-])[2-9][0-9]{2}[ .\-][0-9]{4}  # North American
      | (?<![0-9][ ])(?:                                               # not the groups of an account number
            00[ ]?[1-9][0-9]{0,2}[ \-/](?:[ ().\-/]{0,2}[0-9]){6,12}
          | 0[1-9][0-9]{0,3}[ /\-][0-9]{2,8}(?:[ \-][0-9]{2,8}){0,4}    # national
          | \(0[1-9][0-9]{0,3}\)[ ]?[0-9]{2,8}(?:[ \-][0-9]{2,8}){0,4}
          | 0[1-9](?:\.[0-9]{2}){4}
        )
    )(?![A-Za-z0-9]|_\w|[.:/\-][0-9])""",
    re.VERBOSE,
)
_FEWEST_DIGITS, _MOST_DIGITS = 9, 15


def _phones(text: str) -> Iterator[Span]:
    for match in _PHONE.finditer(text):
        if _FEWEST_DIGITS <= sum(map(str.isdigit, match.group())) <= _MOST_DIGITS:
            yield match.span()


_DIGIT_GROUPS = lazy(r"(?<![A-Za-z0-9_.])[0-9]+(?:(?:[.-]| {1,2})[0-9]+)*(?![A-Za-z0-9_])")
_DIGITS = lazy(r"[0-9]+")
_MOST_CARD_DIGITS = 19
_ISSUERS = (
    (lazy(r"4"), (13, 16, 19)),  # Visa
    (lazy(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),  # Mastercard
    (lazy(r"3[47]"), (15,)),  # American Express
    (lazy(r"6011|64[4-9]|65"), (16, 19)),  # Discover
    (lazy(r"30[0-5]|3[68]"), (14,)),  # Diners Club
    (lazy(r"35(?:2[89]|[3-8])"), (16, 19)),  # JCB
    (lazy(r"62"), (16, 17, 18, 19)),  # UnionPay
)


def _cards(text: str) -> Iterator[Span]:
    for run in _DIGIT_GROUPS.finditer(text):
        groups = [match.span() for match in _DIGITS.finditer(text, *run.span())]
        first = 0
        while first < len(groups):
            is_fraction = text.endswith(".", 0, groups[first][0])
            last = None if is_fraction else _card_from(text, groups, first)
            if last is not None:
                yield groups[first][0], groups[last][1]
            first = first + 1 if last is None else last + 1


def _card_from(text: str, groups: list[Span], first: int) -> int | None:
    """The last group of a card number that begins with a group; numbers in groups have 3 to 7 digits in each."""
    number = ""
    for last in range(first, len(groups)):
        start, end = groups[last]
        number += text[start : min(end, start + _MOST_CARD_DIGITS + 1)]
        if len(number) > _MOST_CARD_DIGITS:
            return None
        if _is_card(number):
            return last
        if not 3 <= end - start <= 7:
            return None
    return None


def _is_card(number: str) -> bool:
    if not any(prefix.match(number) and len(number) in lengths for prefix, lengths in _ISSUERS):
        return False
    digits = [int(digit) for digit in reversed(number)]
    return sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0


_IPV4 = lazy(r"(?<![A-Za-z0-9_.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![A-Za-z0-9_]|\.[0-9])")
_VERSION = lazy(
    r"""(?:(?:version|release|build)s?(?:[ ]is)?|(?<![a-z])v(?:er)?\.?)(?:>|[ \t"'`*:=(|/-]{1,8})$""",
    re.IGNORECASE,
)
"""Words that stand before a version of four parts."""
_VERSION_SIZE = 20
_IPV6 = lazy(r"(?<![A-Za-z0-9_:.])[0-9A-Fa-f]{4}:[0-9A-Fa-f:]{2,34}(?![A-Za-z0-9_:])")


def _addresses(text: str) -> Iterator[Span]:
    for match in _IPV4.finditer(text):
        if _names_a_machine(match.group()) and not _VERSION.search(
            text, max(0, match.start() - _VERSION_SIZE), match.start()
        ):
            yield match.span()
    for match in _IPV6.finditer(text):
        from ipaddress import AddressValueError, IPv6Address

        try:
            IPv6Address(match.group())
        except AddressValueError:
            continue
        yield match.span()


def _names_a_machine(address: str) -> bool:
    octets = address.split(".")
    real = all(int(octet) <= 255 and octet == str(int(octet)) for octet in octets)
    return real and octets[0] not in ("0", "127", "255") and octets[1:] != ["0", "0", "0"]


_FINDERS: dict[str, Callable[[str], Iterator[Span]]] = {
    "email": _mailboxes,
    "phone": _phones,
    "credit_card": _cards,
    "ip": _addresses,
}
