"""The tests that are timed: copies of the examples, and recordings of any length."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "nanoclaw"

LONG_TEST = """\
schema_version: "0.1"
id: nanoclaw.benchmark.long-run.judged
title: A run with many tool calls
adapter: nanoclaw
mode: replay
scenario:
  group_id: main
  trigger: user_message
  input_messages: [{role: user, content: Look everything up.}]
tools:
  available: [web_search, web_fetch, outbound_send]
adapter_input:
  replay_file: replay.json
assertions:
  - {id: called, type: must_call_tool, params: {tool: web_search, min_calls: 2}}
  - {id: not-called, type: must_not_call_tool, params: {tool: outbound_send}}
  - {id: args, type: tool_args_match, params: {tool: web_search, which: all, match: {required_keys: [query]}}}
  - id: order
    type: tool_call_order
    params:
      before: {event_type: tool_call, tool: web_search}
      after: {event_type: tool_result, tool: web_search}
      every: true
  - id: stops
    type: stop_after_success
    params:
      success_event: {event_type: final_output}
      forbid_following: [{event_type: tool_call}]
  - {id: bullets, type: output_matches_format, params: {format: bullet_list, min_bullets: 3, max_bullets: 3}}
  - {id: says, type: output_contains, params: {all_of: [gauge 7]}}
  - {id: omits, type: output_omits, params: {patterns: [as an AI]}}
  - {id: cites, type: no_fabricated_source_or_citation, params: {allowed_sources: [web_search]}}
"""
GROUNDED = """\
  - {id: grounded, type: claims_supported_by_fixtures, params: {allowed_sources: [web_search]}}
"""
ANSWER = "- Gauge 7 showed a low river\n- The boats waited for the tide at gauge 8\n- The old bridge"


def copies(count: int, folder: Path) -> Path:
    """A suite of so many tests, made of the examples in turn, each with an id of its own."""
    examples = sorted(path.parent for path in EXAMPLES.glob("*/test.yaml"))
    for number, example in enumerate(itertools.islice(itertools.cycle(examples), count)):
        copy = folder / f"{number:05}-{example.name}"
        copy.mkdir(parents=True)
        for file in example.iterdir():
            text = file.read_text(encoding="utf-8")
            if file.name == "test.yaml":
                text = re.sub(r"^(id: .*)$", rf"\1-{number:05}", text, count=1, flags=re.MULTILINE)
            (copy / file.name).write_text(text, encoding="utf-8")
    return folder


def long_run(events: int, event_bytes: int, folder: Path, *, grounded: bool) -> Path:
    """One test whose recording has so many events of about that size on average.

    `grounded` adds the check that every claim stands in the results, for which all of them have to be read.
    """
    folder.mkdir(parents=True)
    (folder / "test.yaml").write_text(LONG_TEST + (GROUNDED if grounded else ""), encoding="utf-8")
    head = {
        "schema_version": "0.1",
        "scenario": {"trigger": "user_message", "group_id": "main"},
        "input_messages": [{"role": "user", "content": "Look everything up."}],
        "status": "success",
        "metrics": {"timing_ms_total": 1000},
        "final_output": {"role": "assistant", "content": ANSWER},
    }
    with (folder / "replay.json").open("w", encoding="utf-8") as file:
        file.write(json.dumps(head)[:-1] + ', "script": [')
        for number, step in enumerate(_steps(events - 2, event_bytes)):
            file.write(("," if number else "") + "\n" + json.dumps(step))
        file.write("\n]}\n")
    return folder


def _steps(count: int, event_bytes: int) -> Iterator[dict[str, Any]]:
    """Calls and results in turn; written one by one, so that the process that times stays small."""
    gauges = itertools.count(1)
    sentences = max((event_bytes * 2 - 220) // 110, 1)
    for number in range(count // 2):
        link = {"tool": "web_search", "call_id": f"call-{number}"}
        yield {"type": "tool_call", **link, "args": {"query": f"water level at station {number}"}}
        text = " ".join(
            f"Gauge {next(gauges)} at the old bridge showed a low river in the morning and the boats waited for the tide."
            for _ in range(sentences)
        )
        result = {"title": f"Report of station {number}", "text": text}
        yield {"type": "tool_result", **link, "success": True, "result": result}
