"""`make check`: the tests of what changed."""

from changed import ALWAYS, files_about


def test_tests_are_found_by_what_they_import_and_by_name() -> None:
    """Of a module: those that import it, and the one with its name; of a test: itself; of a page: none but the usual."""
    found = files_about(["src/agenteval/running/workers.py"])
    assert "tests/cli/test_workers.py" in found
    assert "tests/grounding/test_claims.py" not in found
    assert "tests/grounding/test_claims.py" in files_about(["tests/grounding/test_claims.py"])
    assert files_about(["docs/ci.md", "src/agenteval/gone.py"]) == sorted(ALWAYS)


def test_helpers_of_tests_hand_on_what_they_import() -> None:
    """A change in a module reaches the tests of the helper that imports it."""
    assert "tests/grounding/test_support.py" in files_about(["tests/grounded.py"])
    assert "tests/otel/test_dialects.py" in files_about(["adapters/otel/agenteval_otel/adapter.py"])
