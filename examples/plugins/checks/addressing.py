"""A plugin: an assertion type of a project's own."""

import re
from typing import ClassVar, Literal

from agenteval.assertions.base import Assertion, Category, Verdict, failed, passed, vacuous
from agenteval.contracts.models import model
from agenteval.contracts.testcase import TestCase
from agenteval.contracts.trace import Trace
from agenteval.text.fitting import cut


@model
class AddressesSender(Assertion):
    """The final output addresses whoever asked by name.

    Whoever asked is the `sender` of the last message of a user in `scenario.input_messages`. Passes when the
    name stands in the output as a word of its own, upper and lower case being equal; of a name of several words
    the first is enough. Had nothing to judge when no message names its sender. Without a final output it fails.
    """

    type: ClassVar[str] = "addresses_sender"
    category: ClassVar[Category] = "outcome"
    failure_category: ClassVar[str] = "impersonal answer"
    example: ClassVar[str] = "where: first_line"

    where: Literal["anywhere", "first_line"] = "anywhere"
    """The part of the output in which the name has to stand."""

    def check(self, trace: Trace, case: TestCase) -> Verdict:
        """Judge one trace."""
        senders = [
            each.sender for each in case.scenario.input_messages if each.role == "user" and each.sender
        ]
        if not senders:
            return vacuous("no message of a user names its sender")
        name = senders[-1].split()[0]
        output = trace.output.strip()
        part = output.partition("\n")[0] if self.where == "first_line" else output
        events = trace.of_type("final_output")[-1:]
        place = "the first line" if self.where == "first_line" else "the output"
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", part, re.IGNORECASE):
            return passed(f"{place} addresses {name}", events=events, name=name)
        got = f"got {cut(part)!r}" if output else "but there is no output"
        return failed(f"expected {place} to address {name}, {got}", events=events, name=name)


PLUGINS = [AddressesSender]
