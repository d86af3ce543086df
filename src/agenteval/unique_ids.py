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
        """Take a test's id. Raises `SpecError` with the `clash`, at its place in the file."""
        if fault := self.clash(test_id, path):
            raise SpecError([problem_at(place(read_text(path, a_test=True), fault.data_path), fault, path)])

    def clash(self, test_id: str, path: Path) -> Fault | None:
        """Take a test's id; a fault (`spec.duplicate_test_id`) when another file has it. Reads no file."""
        other = self._paths.setdefault(test_id, path)
        if other == path:
            return None
        return Fault(
            "spec.duplicate_test_id",
            f"the id {test_id!r} is already used by {other}",
            ("id",),
            next_step="give one of the two another id: results are stored by id",
        )


class TaskIds(UniqueIds):
    """The test ids of one run, which no two files may share; nor may two ids give the same task id."""

    def __init__(self) -> None:
        super().__init__()
        self._owners: dict[str, str] = {}

    def clash(self, test_id: str, path: Path) -> Fault | None:
        """Take a test's id; also a fault for one whose task id is taken (`openwop.task_id_collision`)."""
        if fault := super().clash(test_id, path):
            return fault
        owner = self._owners.setdefault(task_id(test_id), test_id)
        if owner == test_id:
            return None
        return Fault(
            "openwop.task_id_collision",
            f"the ids {test_id!r} and {owner!r} give the same OpenWOP task id, {task_id(test_id)!r}",
            ("id",),
            next_step="make the ids differ in a letter or a digit",
        )
