"""References in a text: URLs, domains, DOIs, arXiv ids and e-mail addresses, normalised so that equal ones compare
equal.

Two URLs are equal whatever their scheme, `www.`, default port, trailing slash, fragment and tracking parameters. The
order of other parameters does not matter either, nor does punctuation that follows a URL in prose.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from agenteval.text.lazy_regexes import lazy
from agenteval.text.parts import fold
from agenteval.text.words import UNSPACED_SIGN


class Link:
    """A reference as written (`text`) and as compared (`key`). `host` is empty if it is no URL or domain."""

    __slots__ = ("end", "host", "key", "kind", "start", "text")

    def __init__(
        self,
        *,
        kind: Literal["url", "domain", "doi", "arxiv", "email"],
        text: str,
        key: str,
        host: str,
        start: int,
        end: int,
    ) -> None:
        self.kind, self.text, self.key, self.host, self.start, self.end = kind, text, key, host, start, end


_URL = lazy(
    r"https?://[^\s<>\"'`|\\^{}\u201c\u201d\u3001-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+",
    re.IGNORECASE,
)
_DOI = lazy(r"\b10\.\d{4,9}/[^\s\"<>`|\\^{}]+")
_ARXIV = lazy(
    r"\barxiv(?:\.org/(?:abs|pdf)/|[:\s]\s?)(?P<id>\d{4}\.\d{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7})",
    re.IGNORECASE,
)
_TOP_LEVEL = frozenset(
    """
    com org net io ai dev app gov edu mil int info biz news tech cloud online site blog wiki me tv co us uk eu de fr es it nl be ch
    at se no dk fi pl cz pt ie jp cn kr in au nz ca br mx ru ua za sg hk tw example test
    """.split()  # noqa: SIM905 - a list of them would be longer
)
_DOMAIN = lazy(
    r"(?<![\w@./-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61})\.){1,5}([a-z]{2,7})\b(?![\w@-]|\.\w)(?P<path>/[^\s<>\"'`|]*)?"
)
_OF_HOST = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."
_LONGEST_HOST = 5 * 64
"""The greatest number of characters before the top level of a domain."""
_EMAIL = lazy(
    r"(?:(?<![\w.+\\-])|(?<=\\[nrt]))[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*\.[^\W\d_]{2,63}(?![^\W_])"
)
"""An e-mail address; not a package with its version, `react@18.2.0`. It may follow the `\\n` of JSON."""
_TRACKING = lazy(
    r"utm_\w+|gclid|fbclid|dclid|msclkid|mc_[ce]id|igshid|yclid|_ga|ref|ref_src|spm|cmpid", re.IGNORECASE
)


def links(text: str) -> list[Link]:
    """List all references but e-mail addresses, in order. A DOI or arXiv URL counts as one of those, not as a URL."""
    found = list(_urls(text)) if "://" in text else []
    others = list(_others(text))
    if not others:
        return found
    spans = [(link.start, link.end) for link in found]
    if "@" in text:
        spans += [match.span() for match in _EMAIL.finditer(text)]
    # Marking the characters taken keeps the time linear: comparing every two spans of a long list of links was quadratic.
    taken = bytearray(len(text) + 1)
    for start, end in spans:
        taken[start:end] = b"\x01" * (end - start)
    for link in others:
        if not any(taken[link.start : link.end]):
            found.append(link)
            taken[link.start : link.end] = b"\x01" * (link.end - link.start)
    return sorted(found, key=lambda link: link.start)


def addresses(text: str) -> list[Link]:
    """List the e-mail addresses of a text, in order, without the punctuation around them.

    `jo...@acme.com` is a shortened address, and so is none.
    """
    if "@" not in text:
        return []
    return [
        Link(kind="email", text=written, key=fold(written), host="", start=match.start(), end=match.end())
        for match in _EMAIL.finditer(text)
        if ".." not in (written := match.group().strip("_.-"))
    ]


def _others(text: str) -> Iterator[Link]:
    """Find references other than URLs.

    Each kind is searched for only if its typical character occurs: most texts have none.
    """
    if "10." in text:
        yield from _dois(text)
    if "arxiv" in text.lower():
        yield from _arxiv_ids(text)
    yield from _domains(text)


_DOMAIN_SIGN = lazy(r"\.([a-z]{2,7})\b")


def _urls(text: str) -> Iterator[Link]:
    for match in _URL.finditer(text):
        url = trim(match.group())
        end = match.start() + len(url)
        # https://doi.org/10.1/x and 10.1/x are one reference, so both compare by the DOI.
        if inner := next(_dois(url), None) or next(_arxiv_ids(url), None):
            yield Link(kind=inner.kind, text=url, key=inner.key, host="", start=match.start(), end=end)
            continue
        key, host = _normal(url)
        if host:
            yield Link(kind="url", text=url, key=key, host=host, start=match.start(), end=end)


def _dois(text: str) -> Iterator[Link]:
    for match in _DOI.finditer(text):
        doi = trim(match.group())
        end = match.start() + len(doi)
        yield Link(kind="doi", text=doi, key=doi.casefold(), host="", start=match.start(), end=end)


def _arxiv_ids(text: str) -> Iterator[Link]:
    for match in _ARXIV.finditer(text):
        key = match["id"].casefold()
        yield Link(kind="arxiv", text=match.group(), key=key, host="", start=match.start(), end=match.end())


def _domains(text: str) -> Iterator[Link]:
    """Find domains by their top level.

    Only the text around a match is read, since a domain begins where a word does.
    """
    end = 0
    words = text if text.isascii() else UNSPACED_SIGN.sub("、", text)
    for sign in _DOMAIN_SIGN.finditer(words) if "." in words else ():
        if sign[1] not in _TOP_LEVEL:
            continue
        at = sign.start()
        before = words[max(end, at - _LONGEST_HOST) : at]
        match = _DOMAIN.match(words, at - len(before) + len(before.rstrip(_OF_HOST))) if at >= end else None
        if not match or match[1] not in _TOP_LEVEL:
            continue
        end = match.end()
        start, written = match.start(), trim(text[match.start() : end])
        key, host = _normal("https://" + written)
        kind: Literal["url", "domain"] = "url" if "/" in written.rstrip("/") else "domain"
        if host:
            yield Link(kind=kind, text=written, key=key, host=host, start=start, end=start + len(written))


def trim(url: str) -> str:
    """Cut the punctuation that follows a URL in prose; a closing bracket stays if the URL opened it."""
    surplus = {close: url.count(close) - url.count(start) for start, close in ("()", "[]")}
    end = len(url)
    while end:
        last = url[end - 1]
        if last not in ".,;:!?*_~…" and surplus.get(last, 0) <= 0:
            break
        if last in surplus:
            surplus[last] -= 1
        end -= 1
    return url[:end]


@lru_cache(maxsize=4096)
def _normal(url: str) -> tuple[str, str]:
    """Return the URL as compared, and its host; both are empty if it is no URL."""
    from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        port = parts.port
    except ValueError:
        return "", ""
    if not host:
        return "", ""
    host = host.removeprefix("www.")
    # bücher.example and xn--bcher-kva.example are one host.
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            return "", ""
    place = host if port in (None, 80, 443) else f"{host}:{port}"
    path = quote(unquote(parts.path), safe="/~!$&'()*+,;=:@-._", errors="surrogatepass").rstrip("/")
    pairs = parse_qsl(parts.query, keep_blank_values=True) if parts.query else []
    query = urlencode(
        sorted(pair for pair in pairs if not _TRACKING.fullmatch(pair[0])), errors="surrogatepass"
    )
    return f"{place}{path}" + (f"?{query}" if query else ""), host


def within(host: str, domain: str) -> bool:
    """Return whether a host is the domain or one of its subdomains."""
    return host == domain or host.endswith("." + domain)
