"""What the groundedness checks cost: `python -m benchmarks.groundedness_speed FILE… [--json]`.

The files are those of `benchmarks.groundedness`. Their rows are put together, in order, to outputs of bullets, each
with a link to the source it is about, one tool result per source: long ones of about 200 words against 20 kB of
sources, short ones of about 40 words against 2 kB. The check of claims judges each output, then both checks do. CPU time in milliseconds, the least
of several rounds for each output, in a process that has read many texts before. In every round all texts and links are
other ones, by a number in them. `read before` is the same output with its claims in another order, as a mutant may have
them: all texts are known, their judgement is not. `judged before` is the very same output again.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

from benchmarks.groundedness import CASE, CHECK, trace_of

from agenteval.assertions.groundedness import NoFabricatedSourceOrCitation
from agenteval.contracts.models import parse
from agenteval.contracts.trace import Trace

Json = dict[str, Any]
ROUNDS = 10
SIZES = {"long": (200, 20_000), "short": (40, 2_000)}
"""Words of an output and characters of its sources, at least."""
MOST = 30
"""Outputs of a size, of each file."""
CITED = parse(NoFabricatedSourceOrCitation, {})
CHECKS: dict[str, Callable[[Trace], Any]] = {
    "claims": lambda trace: CHECK.judge(trace, CASE),
    "both": lambda trace: (CHECK.judge(trace, CASE), CITED.judge(trace, CASE)),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure on outputs put together from the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--size", choices=SIZES, action="append", help="measure outputs of this size only")
    parser.add_argument("--json", action="store_true", help="print a list of figures by size and check")
    options = parser.parse_args(arguments)
    found = []
    for path in options.files:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for size in options.size or SIZES:
            made = list(outputs(rows, *SIZES[size]))
            found += [{"file": path.name, "size": size, **figures(made, check)} for check in CHECKS]
    print(json.dumps(found, indent=2) if options.json else "\n".join(as_text(found)))
    return 0


def outputs(rows: Sequence[Json], least_words: int, least_size: int) -> Iterator[list[Json]]:
    """The rows of each output: so many that it has enough words and its sources are long enough."""
    pending: list[Json] = []
    made = 0
    for row in rows:
        said = sum(len(each["output"].split()) for each in pending)
        pending.append(row if said < least_words else {**row, "output": ""})
        if said >= least_words and sum(map(len, {each["source"] for each in pending})) >= least_size:
            yield pending
            pending, made = [], made + 1
        if made == MOST:
            break


def row_of(parts: Sequence[Json], mark: int, order: int = 1) -> Json:
    """One output about several sources, all of them marked with a number; its claims the other way round if order is -1."""
    links: dict[str, str] = {}
    for part in parts:
        links.setdefault(part["source"], f"https://news.example.com/{mark}/{len(links)}")
    said = [f"- {part['output']} ({links[part['source']]})" for part in parts if part["output"]]
    sources = [f"{link}\n{source} Page {mark}." for source, link in links.items()]
    return {"source": sources, "output": "\n".join(said[::order])}


def figures(made: Sequence[Sequence[Json]], check: str) -> Json:
    """The means over outputs."""
    judge = CHECKS[check]
    least = [[10.0] * len(made) for _ in range(3)]
    for mark in range(1, ROUNDS + 1):
        for place, parts in enumerate(made):
            trace, turned = trace_of(row_of(parts, mark)), trace_of(row_of(parts, mark, -1))
            for best, judged in zip(least, (trace, turned, trace), strict=True):
                start = process_time()
                judge(judged)
                best[place] = min(best[place], process_time() - start)
    rows = [row_of(parts, 1) for parts in made]
    first, read, again = ([1000 * seconds for seconds in best] for best in least)
    return {
        "check": check,
        "n": len(made),
        "claims": round(mean(sum(bool(part["output"]) for part in parts) for parts in made)),
        "words": round(mean(len(" ".join(part["output"] for part in parts).split()) for parts in made)),
        "characters": round(mean(sum(map(len, row["source"])) for row in rows)),
        "ms": round(mean(first), 2),
        "ms_least": round(min(first), 2),
        "ms_most": round(max(first), 2),
        "ms_read_before": round(mean(read), 2),
        "ms_judged_before": round(mean(again), 2),
    }


def as_text(found: Sequence[Json]) -> Iterator[str]:
    """The figures as a table."""
    file = None
    for each in found:
        if each["file"] != file:
            file = each["file"]
            yield f"{file:<36}{'n':>4}{'claims':>8}{'words':>7}{'sources':>10}{'ms':>7}{'range':>15}{'read before':>13}{'judged before':>15}"
        spread = f"{each['ms_least']:.2f} - {each['ms_most']:.2f}"
        yield (
            f"  {each['size'] + ', ' + each['check']:<34}{each['n']:>4}{each['claims']:>8}{each['words']:>7}"
            f"{each['characters'] / 1000:>7.1f} kB{each['ms']:>7.2f}{spread:>15}{each['ms_read_before']:>13.2f}"
            f"{each['ms_judged_before']:>15.2f}"
        )


if __name__ == "__main__":
    sys.exit(main())
