"""A test that replays a real recording: `adapter_input.session`."""

from agenteval.adapters import AdapterContext
from agenteval.spec import TestCase
from agenteval.trace import AdapterInfo, Trace
from agenteval_nanoclaw.contradictions import situation_differs
from agenteval_nanoclaw.files import find_recording
from agenteval_nanoclaw.session.choosing import ALIASES, check_options, choose
from agenteval_nanoclaw.session.mapping import Teller
from agenteval_nanoclaw.session.reading import read_recording


def trace_of_session(case: TestCase, context: AdapterContext, adapter: AdapterInfo) -> Trace:
    """The trace of the run that a test means. Raises `AdapterError`; see `choose` and `read_recording`.

    Where the recording and the test describe different situations, `context` is warned.
    """
    given = case.adapter_input
    check_options(given)
    path = find_recording(given["session"], context)
    reading = read_recording(path, context, within=None if context.allow_outside else context.root)
    run = choose(reading.runs, given)
    aliases, group = given.get(ALIASES, {}), case.scenario.group_id
    teller = Teller(run, reading, aliases=aliases, adapter=adapter, default_group=group)
    trace = teller.told(case.id, context.run_id).trace
    for warning in situation_differs(case, trace.scenario, trace.input_messages):
        context.warn(warning)
    return trace
