"""Real recordings of NanoClaw as rows: what the tools of each run returned, and what the agent said then."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agenteval.contracts.adapters import AdapterContext
from agenteval.contracts.models import parse
from agenteval.contracts.testcase import TestCase
from agenteval.grounding.sources import input_sources, result_sources, successful_results, texts_of
from agenteval_nanoclaw import NanoClawAdapter  # noqa: TID251 - the recordings are of this adapter

MOST_BYTES = 10_000_000


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """One row for each run in which a tool succeeded: `{id, source, output}`.

    `folder` holds a folder for each recording. A database may be kept as SQL (`inbound.db.sql`).
    """
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        with tempfile.TemporaryDirectory() as temporary:
            root = Path(temporary) / path.name
            shutil.copytree(path, root, symlinks=True)
            for dump in root.rglob("*.db.sql"):
                with closing(sqlite3.connect(dump.with_suffix(""))) as database:
                    database.executescript(dump.read_text(encoding="utf-8"))
            yield from _runs(root)


def _runs(root: Path) -> Iterator[dict[str, Any]]:
    context = AdapterContext(base_dir=root, root=root, run_id="run-1", max_file_bytes=MOST_BYTES)
    adapter = NanoClawAdapter()
    for run in adapter.recorder.inspect(root, context).runs:
        given = {"adapter": "nanoclaw", "adapter_input": {"session": ".", "turn": run.number}}
        trace = adapter.trace(parse(TestCase, {**_CASE, **given}), context)
        results = successful_results(trace, ())
        texts = [
            text
            for each in (*result_sources(results), *input_sources(trace))
            for text in texts_of(each.value)
        ]
        if results:
            yield {"id": f"{root.name}-{run.number}", "source": ["\n".join(texts)], "output": trace.output}


_CASE = {
    "schema_version": "0.1",
    "id": "benchmark.groundedness.one.run",
    "title": "One run",
    "mode": "replay",
    "scenario": {"group_id": "main", "trigger": "user_message", "input_messages": []},
    "tools": {"available": []},
    "assertions": [{"id": "a", "type": "claims_supported_by_fixtures", "params": {}}],
}
