"""The pytest plugin: with its switch on, pytest collects test files and judges recordings itself.

pytest loads this module wherever agenteval is installed. Without the switch it declares its options and does nothing
else; what it needs is imported once the switch is on.
"""

import pytest

NAME = "agenteval"
REMARKS = "agenteval remarks"
"""The section of a report with remarks on a test that did not fail."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the switch, and where results are written, each as an option and as a setting."""
    group = parser.getgroup(NAME, "recorded agent runs (agenteval)")
    group.addoption(
        "--agenteval",
        action="store_true",
        dest="agenteval",
        help="Collect test.yaml and *.test.yaml, and judge the recordings next to them.",
    )
    group.addoption(
        "--agenteval-artifacts",
        metavar="DIR",
        dest="agenteval_artifacts",
        help="Write the results of agenteval's tests into a new directory in DIR (default: nowhere).",
    )
    group.addoption(
        "--agenteval-live",
        choices=("play", "record", "real"),
        dest="agenteval_live",
        help="Run the agents of agenteval's tests again, as `agenteval run --live` does.",
    )
    parser.addini(
        "agenteval", "Collect test.yaml and *.test.yaml, like --agenteval.", type="bool", default=False
    )
    parser.addini("agenteval_artifacts", "Like --agenteval-artifacts; relative to the rootdir.", default="")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Add the hooks if the switch is on. This runs first, while the markers are those of the project."""
    if config.getoption("agenteval") or config.getini("agenteval"):
        from agenteval.pytest_plugin.hooks import switch_on

        switch_on(config)
        return
    # Without this, pytest only reports that the file is "not found".
    named = [arg.partition("::")[0] for arg in config.args if ".yaml" in arg or ".yml" in arg]
    if named:
        from agenteval.loading.discovery import holds_a_test

        for name in filter(holds_a_test, named):
            raise pytest.UsageError(
                f"{name} is a test of agenteval: add --agenteval, or set agenteval = true in pytest's configuration"
            )
