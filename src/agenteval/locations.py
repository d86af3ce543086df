"""Where in their test file the assertions stand that did not pass. Worked out only for those, once the verdicts are there."""

from collections.abc import Sequence
from typing import Any

from agenteval.errors import FileError
from agenteval.loading import LoadedTest
from agenteval.results import AssertionResult

SUITE = ".json"
"""How the file of a suite ends: its tasks have checks, and no list of assertions in which these would stand."""


def locate(test: LoadedTest, judged: Sequence[AssertionResult], *, max_bytes: int, max_nodes: int) -> None:
    """Note `line` and `column` of every assertion that said no, or came to no verdict.

    The file is read again. Of one that has changed since it was loaded, nothing is noted.
    """
    wanted = {each.id: each for each in judged if each.status in ("fail", "warn") or each.crashed}
    ids = [spec.id for spec in test.case.assertions]
    if not wanted or not wanted.keys() <= set(ids) or test.path.suffix == SUITE:
        return
    from agenteval.reading.documents import DataPath, read_text
    from agenteval.reading.yamlsource import load_yaml, places

    try:
        text = read_text(test.path, max_bytes=max_bytes)
        data = load_yaml(text, test.path, max_nodes=max_nodes)
    except FileError:
        return
    if _ids(data) != ids:
        return
    paths: list[tuple[DataPath, bool]] = [(("assertions", ids.index(name)), False) for name in wanted]
    for each, place in zip(wanted.values(), places(text, paths), strict=True):
        each.line, each.column = place.line, place.column


def _ids(data: Any) -> list[Any]:
    given = data.get("assertions") if isinstance(data, dict) else None
    return [each.get("id") for each in given if isinstance(each, dict)] if isinstance(given, list) else []
