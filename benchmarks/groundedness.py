"""How well the groundedness check tells supported outputs from others: `python -m benchmarks.groundedness FILE… [--parts] [--json]`.

A file holds lines of JSON: `{id, source, output, supported, question?}`. Each output is judged as the final output
of a run in which a tool returned the source and the user asked the question, by `claims_supported_by_fixtures`: with its
default parameters, and with `min_support: 0.66` (others by `--min-support`). The source is a text, or a list of what several
calls returned: texts or JSON values. A false alarm is a supported output that fails; found is an unsupported one that does.
The score that ROC AUC ranks by is the `score` that the check observes when it judges wording.

With `--parts`, each data set and kind of error has a row of its own, and so have baselines, which are scored in the same run. Of
each, the two-word rule apart, the threshold is the one that is best on the very file, which counts in its favour. Nothing here
is random.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenteval.assertions.groundedness import ClaimsSupportedByFixtures
from agenteval.contracts.models import parse
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import (
    AdapterInfo,
    Capabilities,
    Trace,
    TraceBuilder,
    TraceMessage,
    TraceScenario,
)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """One output: whether it is supported, its score, and whether it was said to be supported."""

    part: str
    supported: bool
    score: float
    passed: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--min-support", type=float, default=0.66, help="how far the wording must be supported"
    )
    parser.add_argument("--parts", action="store_true", help="show kinds of errors and baselines, too")
    parser.add_argument("--json", action="store_true", help="print a list of figures by file")
    options = parser.parse_args(arguments)
    worded = parse(ClaimsSupportedByFixtures, {"min_support": options.min_support})
    found = [figures(path, worded, parts=options.parts) for path in options.files]
    print(json.dumps(found, indent=2) if options.json else as_text(found, options.min_support))
    return 0


def figures(path: Path, worded: ClaimsSupportedByFixtures, *, parts: bool = False) -> Json:
    """All figures of one file: by default, and where wording is judged."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    start = time.process_time()
    default = [judge(row, CHECK) for row in rows]
    seconds = time.process_time() - start
    each = list(zip(default, (judge(row, worded) for row in rows), strict=True))
    names = dict.fromkeys(judged.part for judged in default) if parts else {}
    return {
        "file": path.name,
        "ms_per_output": round(1000 * seconds / max(1, len(rows)), 2),
        **_both(each),
        "parts": [{"part": part, **_both([two for two in each if two[0].part == part])} for part in names],
        "baselines": {name: measures(list(baseline(rows, name))) for name in BASELINES} if parts else {},
    }


def _both(judged: Sequence[tuple[Judged, Judged]]) -> Json:
    return {
        "default": measures([one for one, _ in judged]),
        "worded": measures([other for _, other in judged]),
    }


def judge(row: Json, check: ClaimsSupportedByFixtures) -> Judged:
    """One output, judged as the runner would judge it."""
    verdict = check.judge(trace_of(row), CASE)
    score = float(verdict.observed.get("score", 1.0))
    return Judged(part_of(row), bool(row["supported"]), score, verdict.passed)


def part_of(row: Json) -> str:
    """What the id begins with, up to a number: the data set that a row is of."""
    return re.sub(r"-\d+(-\w+)?$", "", str(row["id"]))


CHECK = parse(ClaimsSupportedByFixtures, {})
CASE = parse(
    TestCase,
    {
        "schema_version": "0.1",
        "id": "benchmark.groundedness.one.output",
        "title": "One output",
        "adapter": "benchmark",
        "mode": "replay",
        "scenario": {
            "group_id": "g",
            "trigger": "user_message",
            "input_messages": [{"role": "user", "content": "Hello?"}],
        },
        "tools": {"available": ["web_fetch"]},
        "assertions": [{"id": "a", "type": "claims_supported_by_fixtures", "params": {}}],
        "adapter_input": {},
    },
)


def trace_of(row: Json) -> Trace:
    """A run in which a tool returned the source, or one call for each of several, and the agent said the output."""
    builder = TraceBuilder(
        adapter=AdapterInfo(name="benchmark", version="1"),
        capabilities=Capabilities(supports_tool_trace=True, supports_replay=True),
        scenario=TraceScenario(trigger="user_message", group_id="g"),
    )
    asked = [TraceMessage(role="user", content=row["question"])] if row.get("question") else []
    for message in asked:
        builder.add("message_received", {"role": "user", "content": message.content}, actor="user")
    for number, source in enumerate(sources_of(row), 1):
        link = {"tool": "web_fetch", "call_id": f"call-{number}"}
        builder.add("tool_call", {**link, "args": {}})
        builder.add(
            "tool_result",
            {**link, "success": True, "result": {"text": source} if isinstance(source, str) else source},
            actor="tool",
        )
    return builder.build(
        test_case_id="benchmark.groundedness.one.output",
        test_run_id="run-1",
        input_messages=asked,
        final_output=TraceMessage(role="assistant", content=row["output"]),
        status="success",
        timing_ms_total=0,
    )


def sources_of(row: Json) -> list[Any]:
    """What the tools of a run returned."""
    return row["source"] if isinstance(row["source"], list) else [row["source"]]


# Baselines -----------------------------------------------------------------------------------------------------

WORD = re.compile(r"\w+")


def token_f1(source: Sequence[str], output: Sequence[str]) -> float:
    """F1 of the output's words against the source's, each counted as often as it occurs."""
    common = sum(min(source.count(word), output.count(word)) for word in set(output))
    return 2 * common / max(1, len(source) + len(output))


def rouge_l(source: Sequence[str], output: Sequence[str]) -> float:
    """F1 of the longest common subsequence of words."""
    row = [0] * (len(source) + 1)
    for word in output:
        diagonal = 0
        for place, other in enumerate(source, 1):
            above = row[place]
            row[place] = diagonal + 1 if word == other else max(above, row[place - 1])
            diagonal = above
    return 2 * row[-1] / max(1, len(source) + len(output))


def shared_words(source: Sequence[str], output: Sequence[str]) -> float:
    """How many different words of the output the source has, up to two, as a share of two or all there are."""
    words = set(output)
    return min(2, len(words & set(source))) / max(1, min(2, len(words)))


BASELINES: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "token F1": token_f1,
    "two words shared": shared_words,
    "ROUGE-L": rouge_l,
}


def baseline(rows: Iterable[Json], name: str) -> Iterator[Judged]:
    """The rows, judged by one of the baselines."""
    scored = []
    for row in rows:
        source = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in sources_of(row))
        words = WORD.findall(source.lower()), WORD.findall(row["output"].lower())
        scored.append((row, BASELINES[name](*words)))
    least = 1.0 if name == "two words shared" else best_threshold(scored)
    for row, score in scored:
        yield Judged(part_of(row), bool(row["supported"]), score, score >= least)


def best_threshold(scored: Sequence[tuple[Json, float]]) -> float:
    """The threshold that gets most rows right."""
    order = sorted(((score, bool(row["supported"])) for row, score in scored), reverse=True)
    right = most = sum(not supported for _, supported in order)
    best = float("inf")
    for place, (score, supported) in enumerate(order):
        right += 1 if supported else -1
        last_of_equals = place + 1 == len(order) or order[place + 1][0] != score
        if last_of_equals and right > most:
            most, best = right, score
    return best


# Figures -------------------------------------------------------------------------------------------------------


def measures(judged: Sequence[Judged]) -> Json:
    """False alarms and what is found, accuracy (a share) and ROC AUC."""
    good = [each for each in judged if each.supported]
    bad = [each for each in judged if not each.supported]
    alarms = sum(not each.passed for each in good)
    found = sum(not each.passed for each in bad)
    return {
        "honest": len(good),
        "alarms": alarms,
        "wrong": len(bad),
        "found": found,
        "accuracy": share(len(good) - alarms + found, len(judged)),
        "roc_auc": roc_auc([each.score for each in good], [each.score for each in bad]),
    }


def share(part: int, whole: int) -> float | None:
    """A part of a whole, from 0 to 1; None of nothing."""
    return round(part / whole, 4) if whole else None


def roc_auc(good: Sequence[float], bad: Sequence[float]) -> float | None:
    """The chance that a supported output scores higher than an unsupported one; equal scores count half."""
    if not good or not bad:
        return None
    order = sorted([*((score, True) for score in good), *((score, False) for score in bad)])
    ranks, start = 0.0, 0
    while start < len(order):
        end = start
        while end < len(order) and order[end][0] == order[start][0]:
            end += 1
        ranks += sum(supported for _, supported in order[start:end]) * (start + end + 1) / 2
        start = end
    return round((ranks - len(good) * (len(good) + 1) / 2) / (len(good) * len(bad)), 4)


def as_text(found: Sequence[Json], min_support: float) -> str:
    """The figures as one table."""
    lines = [
        f"{'':<24}{'':>7}{'default':>16}{'':>8}{f'min_support: {min_support:g}':>27}",
        f"{'':<24}{'honest':>7}{'alarms':>8}{'wrong':>8}{'found':>8}{'alarms':>9}{'found':>7}{'accuracy':>10}{'ROC AUC':>9}",
    ]
    for each in found:
        lines.append(_row(each["file"].removesuffix(".jsonl").removeprefix("groundedness-"), each))
        lines += [_row(f"  {part['part']}", part) for part in each["parts"]]
        lines += [_row(f"  {name}", {"worded": of}) for name, of in each["baselines"].items()]
    total = {
        key: {name: sum(each[key][name] for each in found) for name in ("honest", "alarms", "wrong", "found")}
        for key in ("default", "worded")
    }
    return "\n".join([*lines, _row("all", total)])


def _row(name: str, found: Json) -> str:
    default, worded = found.get("default"), found["worded"]
    counts = worded if default is None else default
    told = ("", "") if default is None else (default["alarms"], default["found"])
    accuracy, auc = worded.get("accuracy"), worded.get("roc_auc")
    return (
        f"{name:<24}{counts['honest']:>7}{told[0]:>8}{counts['wrong']:>8}{told[1]:>8}{worded['alarms']:>9}{worded['found']:>7}"
        f"{'' if accuracy is None else f'{accuracy:.1%}':>10}{'' if auc is None else f'{auc:.3f}':>9}"
    )


if __name__ == "__main__":
    sys.exit(main())
