"""The ids of the tests of one run, which no two files may share: as they are, and as OpenWOP task ids."""

from pathlib import Path

from agenteval.errors import SpecError
from agenteval.openwop.summary import task_id
from agenteval.reading.documents import read_text
from agenteval.reading.faults import Fault, problem_at
from agenteval.reading.yamlsource import place


class UniqueIds:
    """The test ids of one run, which no two files may share."""

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}

    def claim(self, test_id: str, path: Path) -> None:
        """Take a test's id. Raises `SpecError` (`spec.duplicate_test_id`) when another file has it."""
        other = self._paths.setdefault(test_id, path)
        if other != path:
            raise _refused(
                path,
                code="spec.duplicate_test_id",
                message=f"the id {test_id!r} is already used by {other}",
                next_step="give one of the two another id: results are stored by id",
            )


class TaskIds(UniqueIds):
    """The test ids of one run, which no two files may share; nor may two ids give the same task id."""

    def __init__(self) -> None:
        super().__init__()
        self._owners: dict[str, str] = {}

    def claim(self, test_id: str, path: Path) -> None:
        """Take a test's id. Raises `SpecError` also for an id whose task id is taken (`openwop.task_id_collision`)."""
        super().claim(test_id, path)
        owner = self._owners.setdefault(task_id(test_id), test_id)
        if owner != test_id:
            raise _refused(
                path,
                code="openwop.task_id_collision",
                message=f"the ids {test_id!r} and {owner!r} give the same OpenWOP task id, {task_id(test_id)!r}",
                next_step="make the ids differ in a letter or a digit",
            )


def _refused(path: Path, *, code: str, message: str, next_step: str) -> SpecError:
    """The error for the id of a test file, with its place there."""
    fault = Fault(code, message, ("id",), next_step=next_step)
    return SpecError([problem_at(place(read_text(path), fault.data_path), fault, path)])
