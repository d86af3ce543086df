"""How a live run behaves otherwise than the recording of its test."""

from dataclasses import replace

from agenteval.drafting.changes import changes
from agenteval.loading import LoadedTest
from agenteval.runner import Outcome, RunOptions, run_test
from agenteval.strict import EXTENSION_PREFIX


def behaviour_changes(test: LoadedTest, outcome: Outcome, options: RunOptions) -> list[str]:
    """What differs in calls, outcome, answer and verdicts, in lines; none where the test has no recording."""
    if all(key.startswith(EXTENSION_PREFIX) for key in test.case.adapter_input):
        return []
    replayed = replace(test, case=replace(test.case, mode="replay"))
    return changes(run_test(replayed, replace(options, live=None)), outcome)
