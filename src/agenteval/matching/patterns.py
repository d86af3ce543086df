"""Authors' patterns, under a time limit, and JSON Schemas, judged offline.

`$schema` may name the drafts from 4 on; without it a schema is of draft 2020-12. References lead to places inside the
schema or to the published meta-schemas; nothing is ever fetched. jsonschema judges all keywords but `pattern`, which
the engine with a time limit searches. All else ends with the step (`contracts/time_limits.py`).
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from heapq import nsmallest
from math import prod
from typing import TYPE_CHECKING, Any, cast

from agenteval.contracts import time_limits
from agenteval.contracts.errors import AssertionCrashError
from agenteval.text.fitting import clipped, head
from agenteval.text.lazy_regexes import lazy
from agenteval.text.names import slip_of

if TYPE_CHECKING:
    import regex


MOST_REPEATS = 1_000_000
"""The number of repetitions that a pattern may demand: the engine spells them out."""
MOST_CHARACTERS = 10_000
"""The length of a pattern in characters: compiling it cannot be interrupted."""


def pattern_error(pattern: str, *, case_sensitive: bool = False) -> str | None:
    """Explain why a regular expression does not compile, with the flags of `search`; None if it does."""
    if len(pattern) > MOST_CHARACTERS:
        return f"it has {len(pattern):,} characters; the limit is {MOST_CHARACTERS:,}"
    if "\b" in pattern:  # meant as a word boundary; a backspace never matches, and what it forbids passes
        return "it holds a backspace, which is how YAML reads \\b in double quotes; put it in single quotes"
    if _repeats(pattern) > MOST_REPEATS:
        return f"it requires more than {MOST_REPEATS} repetitions"
    import regex

    try:
        with time_limits.spending() as left:
            if left <= 0:
                return f"the patterns before it took {time_limits.SECONDS:g} s to read; use fewer"
            _compiled(pattern, case_sensitive=case_sensitive)
    except RecursionError:
        return "its groups are nested too deeply"
    except (regex.error, OverflowError) as error:
        return str(error)
    return None


def pattern_fault(pattern: str, *, case_sensitive: bool = False) -> str | None:
    """Explain in a sentence why a regular expression asserts nothing; None if it does.

    It does not compile, every text matches it, or none can. A trial on `_ANY_TEXTS`, and on the words of the pattern
    itself, shows whether every text matches.
    """
    if not pattern:
        return "the pattern is empty, and matches every text"
    if error := pattern_error(pattern, case_sensitive=case_sensitive):
        return f"the pattern {shown(pattern)} is not a regular expression: {error}"
    try:
        if _matches_all(pattern, case_sensitive=case_sensitive):
            hint = "; it ends in an empty alternative" if pattern.endswith(("|", "|)")) else ""
            return f"the pattern {shown(pattern)} matches every text, the empty one too{hint}"
        if _matches_none(pattern, case_sensitive=case_sensitive):
            return f"the pattern {shown(pattern)} can match no text"
    except (TimeoutError, MemoryError):  # it does match something, and not at once
        pass
    return None


_TRIAL_SECONDS = 0.2
"""The seconds for a trial on one text: a pattern that matches all texts does so at once."""
_ANY_TEXTS = (
    *("", " ", "x", "7", "\n", "a b\n\nC. 1\n"),
    "".join(map(chr, range(32, 127))) + "\t\x00\u00e9\u6f22\U0001f600",  # no class leaves all of these out
    "x" * 100_000,
)
_NEGATIVE = lazy(r"(?<!\\)((?:\\\\)*)\(\?(<?)!")
_ESCAPE_OF_KIND = lazy(r"\\[A-Za-z0-9]")
_WORDS_OF_PATTERN = lazy(r"[^\\^$.|?*+(){}\[\]]+")


def _matches_all(pattern: str, *, case_sensitive: bool) -> bool:
    """Return whether a pattern finds something in every text."""
    compiled = _compiled(pattern, case_sensitive=case_sensitive)
    if not compiled.search("", timeout=_TRIAL_SECONDS):
        return False
    # What must not follow, or precede, is surely not there only at an end: `\A(?!.*error)` does say something, `(?!error)` does not.
    pessimist = _NEGATIVE.sub(lambda m: m[1] + (r"\A(?<!" if m[2] else r"\Z(?!"), pattern)
    if pessimist != pattern and not pattern_error(pessimist, case_sensitive=case_sensitive):
        compiled = _compiled(pessimist, case_sensitive=case_sensitive)
    own = _WORDS_OF_PATTERN.findall(_ESCAPE_OF_KIND.sub("|", pattern))
    return all(
        compiled.search(text, timeout=_TRIAL_SECONDS) for text in (*_ANY_TEXTS, *own[:50], "".join(own))
    )


_IN_CLASS = lazy(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_EMPTY_CLASS = lazy(r"\[\^(?:\\s\\S|\\S\\s|\\w\\W|\\W\\w|\\d\\D|\\D\\d)\](?![?*{])|\\b\\B|\\B\\b")
_OUT_OF_PLACE = lazy(r"(?:\$|\\[Zz])\w(?![?*{])|\w(?:\^|\\A)")
"""A letter after the end of a line or text, or before the beginning of one."""
_NEVER = lazy(r"\(\?<?!\)(?![?*{])")


def _matches_none(pattern: str, *, case_sensitive: bool) -> bool:
    r"""Return whether a pattern obviously matches no text: `(?!)`, `[^\s\S]`, `$x`."""
    if _EMPTY_CLASS.search(pattern):
        return True
    plain = _IN_CLASS.sub(".", re.sub(r"\\([^AZz])", "-", pattern))
    if "(?" not in plain and _OUT_OF_PLACE.search(plain):
        return True
    if "|" not in plain and _NEVER.search(plain):
        return True
    compiled = _compiled(pattern, case_sensitive=case_sensitive)
    # A partial match means that some longer text could match; a few beginnings are enough to get one.
    begun = ("", "x", "7 ", "a-\n", "x.\n\n")
    return not any(compiled.search(text, partial=True, timeout=_TRIAL_SECONDS) for text in begun)


def _repeats(pattern: str) -> int:
    """Return the greatest number of repetitions that nested groups demand: `((a{9}){9}){9}` is 729 of `a`."""
    of_groups = [int(count) for count in re.findall(r"\)\{([0-9]{1,9})", pattern)]
    of_others = [int(count) for count in re.findall(r"(?<!\))\{([0-9]{1,9})", pattern)]
    return prod(max(count, 1) for count in of_groups) * max(sum(of_others), 1)


_ALL_AHEAD = lazy(r"\(\?s\)((?:\(\?=\.\*(?![?+])(?:\\.|[^()|\\])*\))+)", re.DOTALL)


@lru_cache(maxsize=512)
def _compiled(pattern: str, *, case_sensitive: bool) -> "regex.Pattern[str]":
    import warnings

    import regex

    # `^- ` should find any line of an answer: authors write patterns for lists line by line.
    flags = regex.MULTILINE if case_sensitive else regex.MULTILINE | regex.IGNORECASE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what a later version may read differently
        # `(?s)(?=.*a)(?=.*b)` matches at the beginning, or nowhere. Trying it at every character made a text of 30,000
        # characters without `b` end in a time-out instead of a failure.
        if ahead := _ALL_AHEAD.fullmatch(pattern):
            pattern = r"(?s)\A" + ahead[1].replace("(?=.*", "(?=.*?")
        return regex.compile(pattern, flags)


def search(pattern: str, text: str, *, case_sensitive: bool = False, written: str = "") -> Any:
    """Return the first match, with `^` and `$` at every line. `written` is the pattern as errors show it.

    Raises `AssertionCrashError`: `pattern.timeout` if the step's time for patterns is used up, `pattern.memory` if
    the engine needs more memory than it allows itself.
    """
    compiled = _compiled(pattern, case_sensitive=case_sensitive)
    with time_limits.spending() as left:
        try:
            if left <= 0:
                raise TimeoutError  # noqa: TRY301 - as the engine would
            return compiled.search(text, timeout=left)
        except TimeoutError:
            raise AssertionCrashError(
                f"the pattern {shown(written or pattern)} used up the {time_limits.SECONDS:g} s that the patterns "
                f"of an assertion may take, on a text of {len(text):,} characters",
                reason_code="pattern.timeout",
                next_step="rewrite the pattern so that no quantified group repeats what it already matched, "
                "or raise limits.pattern_seconds in agenteval.yaml",
            ) from None
        except MemoryError:
            raise AssertionCrashError(
                f"the pattern {shown(written or pattern)} needs too much memory on a text of {len(text):,} characters",
                reason_code="pattern.memory",
                next_step="rewrite the pattern so that no group is repeated for every character",
            ) from None


def shown(pattern: str) -> str:
    """Return a pattern for a message as its author wrote it, cut if it is very long."""
    start = head(pattern, 200)
    return (f"'{start}'" if start.isprintable() else repr(start)) + "…" * (len(pattern) > len(start))


# JSON Schemas ----------------------------------------------------------------------------------------------------

MOST_DIFFERENCES = 10
LONGEST_DIFFERENCE = 300
"""The length of one difference in characters: jsonschema puts the whole value into its messages."""


def schema_error(schema: dict[str, Any]) -> str | None:
    """Explain why a mapping is no JSON Schema that can be judged; None if it is one."""
    from jsonschema import SchemaError

    base = _draft(schema.get("$schema"))
    if base is None:
        return f"$schema is not a known draft: {schema.get('$schema')!r}"
    try:
        base.check_schema(schema, format_checker=None)  # it knows only Python's own patterns
        problem = next(_problems(schema, base), None)
        if problem is None:
            # Judging any value shows a `$ref` that leads to itself, which no meta-schema finds.
            _validator(_text(schema)).is_valid({})
    except SchemaError as error:
        place = "/".join(map(str, error.absolute_path))
        return f"{place}: {error.message}" if place else str(error.message)
    except RecursionError:
        return "it is nested too deeply, or refers to itself endlessly"
    return problem


def schema_fault(schema: dict[str, Any], *, kinds: Collection[str] = ()) -> str | None:
    """Explain in a sentence why a JSON Schema asserts nothing; None if it does.

    `kinds` are the JSON types that the judged values always have.
    """
    if error := schema_error(schema):
        return f"json_schema is not a JSON Schema: {error}"
    if _allows_all(schema, schema, frozenset(kinds)):
        return "json_schema allows every value: say what must be there, such as type, required or properties"
    return None


_TYPES = frozenset({"array", "boolean", "null", "number", "object", "string"})
_DEEPEST = 50
_OF_PARTS = frozenset(
    [
        *("properties", "patternProperties", "dependentSchemas", "propertyNames"),
        *("additionalProperties", "unevaluatedProperties"),
        *("items", "prefixItems", "additionalItems", "unevaluatedItems"),
    ]
)
"""Keywords with schemas for parts of the value."""
_LEAST = ("minLength", "minItems", "minProperties")
_REMARKS = frozenset(
    [
        *("$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions"),
        *("title", "description", "default", "examples"),
        *("if", "format", "minContains", "maxContains"),
    ]
)
"""Keywords that judge nothing by themselves: `if` needs `then` or `else`, and no validator judges `format`."""


def _allows_all(schema: Any, root: Any, kinds: frozenset[str] = frozenset(), depth: int = 0) -> bool:
    """Return whether every value fits a schema, as far as its keywords show.

    `kinds` are the JSON types that the value can have; empty stands for all.
    """
    if not isinstance(schema, dict):
        return schema is not False
    if depth > _DEEPEST:
        return False

    def part_allows_all(inner: Any) -> bool:
        return _allows_all(inner, root, depth=depth + 1)

    def allows_all(inner: Any) -> bool:
        return _allows_all(inner, root, kinds, depth + 1)

    def asks_nothing(keyword: str, rule: Any) -> bool:
        if keyword in _OF_PARTS:
            return all(map(part_allows_all, _schemas_of(keyword, rule)))
        if keyword in ("then", "else"):
            return "if" not in schema or allows_all(rule)
        if keyword == "allOf":
            return all(map(allows_all, rule))
        if keyword in ("anyOf", "oneOf"):  # of `oneOf`, a value that fits two does not fit
            return any(map(allows_all, rule)) and (keyword == "anyOf" or len(rule) == 1)
        if keyword == "$ref":
            return isinstance(rule, str) and rule[:2] == "#/" and allows_all(_at(root, rule[2:]))
        return _is_idle(keyword, rule, kinds) or _is_remark(keyword, schema, root)

    return all(asks_nothing(keyword, rule) for keyword, rule in schema.items())


def _schemas_of(keyword: str, rule: Any) -> Iterable[Any]:
    """List the schemas under a keyword: those of a mapping, of a list, or the one."""
    if keyword in ("properties", "patternProperties", "dependentSchemas"):
        return cast("Iterable[Any]", rule.values())
    return rule if isinstance(rule, list) else [rule]


def _is_idle(keyword: str, rule: Any, kinds: frozenset[str]) -> bool:
    """Return whether a keyword without schemas of its own accepts every value: `minLength: 0`, `required: []`."""
    if keyword == "type":
        named = {rule} if isinstance(rule, str) else set(rule)
        return named >= (kinds or _TYPES)
    if keyword == "not":
        return rule is False or (isinstance(rule, dict) and rule.get("not") in (True, {}))
    if keyword in _LEAST:
        return bool(rule <= 0)
    if keyword == "pattern":
        return not rule or _matches_all(rule, case_sensitive=True)
    return keyword in ("required", "dependentRequired", "dependencies", "uniqueItems") and not rule


def _is_remark(keyword: str, schema: Any, root: Any) -> bool:
    """Return whether a keyword judges nothing: a title, a definition, a word of the author's own."""
    draft = _draft(schema.get("$schema") or root.get("$schema"))
    return keyword in _REMARKS or keyword not in draft.VALIDATORS


def _at(root: Any, pointer: str) -> Any:
    """Return the target of a local reference; False, which allows nothing, if it is no plain path."""
    for step in pointer.split("/"):
        root = root.get(step, False) if isinstance(root, dict) else False
    return root


def schema_differences(schema: dict[str, Any], value: Any) -> list[str]:
    """List the violations of a JSON Schema by a value, a line each, at most ten. Raises as `schema_faults` does."""
    return [f"{'/'.join(place) or '(top)'}: {fault}" for place, fault in schema_faults(schema, value)]


def schema_faults(schema: dict[str, Any], value: Any) -> list[tuple[list[str], str]]:
    """List the violations of a JSON Schema by a value, at most ten: the path to it, and the message.

    They are sorted by place, since jsonschema finds surplus keys in an order that changes from process to process.
    Raises `AssertionCrashError`: `pattern.timeout`, `pattern.memory`, `schema.unresolvable` if a reference leads out
    of the schema, `schema.recursion` if schema or value is nested deeper than the interpreter can follow.
    """
    from referencing.exceptions import Unresolvable

    try:
        errors = _validator(_text(schema)).iter_errors(value)
        return [_fault(error) for error in nsmallest(MOST_DIFFERENCES, errors, key=_place)]
    except Unresolvable as error:
        raise AssertionCrashError(
            f"json_schema refers to {error.ref!r}, which is not in the schema; remote schemas are not fetched",
            reason_code="schema.unresolvable",
            next_step="put the referenced schema under $defs and refer to it with #/$defs/<name>",
        ) from None
    except RecursionError:
        raise AssertionCrashError(
            "json_schema or the value it judges is nested too deeply, or the schema refers to itself endlessly",
            reason_code="schema.recursion",
            next_step="flatten the schema",
        ) from None


def _place(error: Any) -> list[tuple[bool, int, str]]:
    """Return a sort key for the place of an error: items by their numbers, keys by their names."""
    return [(True, part, "") if isinstance(part, int) else (False, 0, part) for part in error.absolute_path]


def _fault(error: Any) -> tuple[list[str], str]:
    return list(map(str, error.absolute_path)), clipped(str(error.message), LONGEST_DIFFERENCE)


def _text(schema: dict[str, Any]) -> str:
    import json

    return json.dumps(schema, sort_keys=True)


def _draft(name: Any) -> Any:
    """Return the validator class of the draft that `$schema` names, or None.

    (Draft 3 has types that nobody can judge.)
    """
    from jsonschema import Draft3Validator, Draft202012Validator
    from jsonschema.validators import validator_for

    if name is None:
        return Draft202012Validator
    if not isinstance(name, str):
        return None
    try:
        found = validator_for({"$schema": name}, default=cast("Any", None))
    except ValueError:  # not a URL: "http://["
        return None
    return None if found is Draft3Validator else found


@lru_cache(maxsize=64)
def _validator(schema_text: str) -> Any:
    import json

    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    schema = json.loads(schema_text)
    return _with_time_limit(_draft(schema.get("$schema")))(schema, registry=REGISTRY)


@lru_cache(maxsize=8)
def _with_time_limit(draft: Any) -> Any:
    """Return the validator of a draft, with `pattern` searched under the time limit."""
    from jsonschema.validators import extend

    return cast("Any", extend)(draft, {"pattern": _pattern})


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    """Judge a text by `pattern`: case matters, and `^` and `$` are the ends of the whole text."""
    from jsonschema import ValidationError

    if validator.is_type(instance, "string") and not search(
        f"(?-m:{pattern})", instance, case_sensitive=True, written=pattern
    ):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _problems(schema: dict[str, Any], draft: Any) -> Iterator[str]:
    """Find faults that a meta-schema misses: references out of the schema, faults of their targets, invalid
    patterns.
    """
    return _Walk(schema, draft).problems()


class _Walk:
    """A walk over a schema, and over all that it refers to."""

    def __init__(self, schema: dict[str, Any], draft: Any) -> None:
        from jsonschema_specifications import REGISTRY
        from referencing.jsonschema import DRAFT202012, specification_with

        self.schema, self.draft = schema, draft
        self.dialect = specification_with(schema.get("$schema", ""), default=DRAFT202012)
        root = self.dialect.create_resource(schema)
        self.pending = [(root, REGISTRY.resolver_with_root(root))]
        self.references: list[tuple[str, str, Any]] = []
        # The published meta-schemas are known to be right.
        self.seen: set[int] = {id(resource.contents) for resource in REGISTRY.values()}

    def problems(self) -> Iterator[str]:
        # References come last: a lookup reads the whole schema, and fails at what the walk refuses.
        while self.pending or self.references:
            if self.pending:
                yield from self._visit(*self.pending.pop())
            else:
                yield from self._follow(*self.references.pop())

    def _visit(self, resource: Any, resolver: Any) -> Iterator[str]:
        contents = resource.contents
        if id(contents) in self.seen:
            return
        self.seen.add(id(contents))
        if not isinstance(contents, dict):  # true and false
            return
        if "$schema" in contents and contents is not self.schema:
            yield "$schema inside the schema would change the rules; put it at the top"
        yield from _ignored(contents, self.draft)
        self.pending += [
            (inner, resolver.in_subresource(inner))
            for inner in resource.subresources()
            if isinstance(inner.contents, dict)  # not so true, and names in `dependencies` of old drafts
        ]
        yield from _foreign_patterns(contents)
        self.references += [(keyword, reference, resolver) for keyword, reference in _references(contents)]

    def _follow(self, keyword: str, reference: str, resolver: Any) -> Iterator[str]:
        target = _resolved(reference, resolver)
        if target is None:
            yield (
                f"{keyword} {reference!r} does not resolve inside the schema, and remote schemas are not fetched;"
                " put what it refers to under $defs"
            )
        elif id(target.contents) not in self.seen:
            self.draft.check_schema(target.contents, format_checker=None)
            self.pending.append((self.dialect.create_resource(target.contents), target.resolver))


def _references(contents: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for keyword in ("$ref", "$dynamicRef"):
        if isinstance(reference := contents.get(keyword), str):
            yield keyword, reference


def _ignored(contents: dict[str, Any], draft: Any) -> Iterator[str]:
    """Find keywords that jsonschema would ignore: misspelt ones, and those of other drafts."""
    from jsonschema import Draft4Validator, Draft201909Validator, Draft202012Validator

    judging = draft.VALIDATORS
    drafts = (Draft4Validator, Draft201909Validator, Draft202012Validator)
    others = {keyword for each in drafts for keyword in each.VALIDATORS} - _JUDGED_WITH_ANOTHER
    for keyword in contents:
        if keyword in judging or keyword in _JUDGED_WITH_ANOTHER:
            continue
        if keyword in others:
            yield f"{keyword} is a keyword of another draft, and would be ignored; name that draft with $schema"
        elif meant := _meant(keyword, frozenset(judging)):
            yield f"{keyword} is not a keyword, and would be ignored; did you mean {meant!r}?"


@lru_cache(maxsize=256)
def _meant(keyword: str, judging: frozenset[str]) -> str | None:
    """Return the keyword of which another is a misspelling: `additionalProperties` for `additionalProperty`;

    else None.
    """
    known = sorted(judging - {"not"})  # a `note` is none
    if slip := slip_of(keyword, known):
        return slip
    if not (alike := [each for each in known if each[:3] == keyword[:3]]):
        return None
    from difflib import get_close_matches

    return next(iter(get_close_matches(keyword, alike, n=1, cutoff=_NEARLY_SAME)), None)


_NEARLY_SAME = 0.83
_JUDGED_WITH_ANOTHER = frozenset({"exclusiveMaximum", "exclusiveMinimum"})
"""Keywords that draft 4 judges together with `maximum` and `minimum`."""


def _resolved(reference: str, resolver: Any) -> Any:
    """Return the target of a reference, or None if it has none."""
    from referencing.exceptions import Unresolvable

    try:
        return resolver.lookup(reference)
    except (Unresolvable, ValueError):
        return None


def _foreign_patterns(contents: dict[str, Any]) -> Iterator[str]:
    """Explain which patterns of a schema are invalid, each for the engine that will search it."""
    pattern, by_pattern = contents.get("pattern"), contents.get("patternProperties")
    if isinstance(pattern, str):
        errors = (pattern_error(each, case_sensitive=True) for each in (pattern, f"(?-m:{pattern})"))
        if error := next(filter(None, errors), None):
            yield f"the pattern {shown(pattern)} is not a regular expression: {error}"
    # jsonschema searches keys with Python's engine, and all patterns at once where `additionalProperties` asks for the
    # rest. `^a|(?i)^b` is an error there, though each of the two is a pattern.
    keys = list(by_pattern) if isinstance(by_pattern, dict) else []
    for key in (*keys, "|".join(keys)):
        if error := _python_error(key):
            yield f"the pattern {shown(key)} in patternProperties is not a regular expression of Python: {error}"
            return


def _python_error(pattern: str) -> str | None:
    import warnings

    if len(pattern) > MOST_CHARACTERS:
        return f"it has {len(pattern):,} characters; the limit is {MOST_CHARACTERS:,}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # `[[a]` would be read differently by a later Python
        try:
            re.compile(pattern)
        except (re.error, OverflowError, FutureWarning) as error:
            return str(error)
    return None
