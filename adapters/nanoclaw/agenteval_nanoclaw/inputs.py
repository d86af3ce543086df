"""What `adapter_input` of a test may say, told for editors; what goes with a session is held to it."""

from typing import Annotated

from agenteval.contracts.models import Between, Model, NotEmpty, NotNull, model

Text = Annotated[str, NotEmpty()]


@model
class NanoClawInput(Model):
    """What is replayed: a bundle (`replay_file`), or a run of a real recording (`session`)."""

    replay_file: Annotated[Text | None, NotNull()] = None
    """The replay bundle, relative to the test: `replay.json`."""
    session: Annotated[Text | None, NotNull()] = None
    """The real recording, relative to the test: a transcript, a session folder, an install, or a database in them."""
    turn: Annotated[Annotated[int, Between(1)] | None, NotNull()] = None
    """With `session`: the run with this number."""
    message: Annotated[Text | int | None, NotNull()] = None
    """With `session`: the run that received this message, by its number in the session or its id."""
    task_id: Annotated[Text | None, NotNull()] = None
    """With `session`: the run of this task, or of a task of this series."""
    time: Annotated[Text | None, NotNull()] = None
    """With `session`: the run that was under way at this time (ISO 8601), else the last that began before it."""
    tool_aliases: Annotated[dict[str, Text] | None, NotNull()] = None
    """With `session`: recorded names of tools, or globs, with the names that the test uses."""
