"""A recording for people, and for `agenteval record`: the runs in it, and a run as the files of a test."""

from pathlib import Path

from agenteval.contracts.adapters import AdapterContext, RecordedRun, RecordedTest, Recording
from agenteval.contracts.trace import AdapterInfo, Trace
from agenteval_nanoclaw.session.choosing import choose, first_words
from agenteval_nanoclaw.session.evidence import holds, lacks
from agenteval_nanoclaw.session.mapping import Teller, Told
from agenteval_nanoclaw.session.reading import Reading, read_recording
from agenteval_nanoclaw.session.runs import Run
from agenteval_nanoclaw.session.values import iso

UNKNOWN_GROUP = "unknown-group"
"""The group of a run whose recording does not tell it."""
MOST_NAMED = 10


class SessionRecorder:
    """Reads recordings of NanoClaw (`agenteval.contracts.adapters.Recorder`)."""

    def __init__(self, adapter: AdapterInfo) -> None:
        self.adapter = adapter

    def inspect(self, source: Path, context: AdapterContext) -> Recording:
        """The runs in a source, and what it holds."""
        reading = read_recording(source, context, within=None)
        runs, unseen = [], []
        for run in reading.runs:
            trace = self._tell(run, reading).trace
            runs.append(_told(run, trace))
            unseen += [f"run {run.number}: {part}" for part in trace.unseen]
        if len(unseen) > MOST_NAMED:
            unseen[MOST_NAMED:] = [f"and {len(unseen) - MOST_NAMED} more of this kind"]
        return Recording(
            kind=reading.source.what,
            runs=runs,
            holds=holds(reading),
            lacks=[*lacks(reading), *unseen],
            skipped=dict(sorted(reading.skipped.items())),
        )

    def convert(self, source: Path, run: RecordedRun, context: AdapterContext) -> RecordedTest:
        """One run as the files of a test; the same source gives the same data."""
        from agenteval_nanoclaw.session.conversion import converted

        reading = read_recording(source, context, within=None)
        return converted(choose(reading.runs, run.choice), reading, self._tell)

    def _tell(self, run: Run, reading: Reading) -> Told:
        teller = Teller(run, reading, aliases={}, adapter=self.adapter, default_group=UNKNOWN_GROUP)
        return teller.told("recording", "record")


def _told(run: Run, trace: Trace) -> RecordedRun:
    return RecordedRun(
        number=run.number,
        choice={"turn": run.number},
        started_at=iso(run.started) if run.index.timed else "unknown time",
        group_id=trace.scenario.group_id or UNKNOWN_GROUP,
        trigger=trace.scenario.trigger,
        first_words=first_words(run),
        tools=trace.tool_counts(),
        status=trace.status,
    )
