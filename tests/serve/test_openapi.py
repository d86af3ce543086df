"""All that the host's own description allows, asked by schemathesis."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from hosts import HostProcess


@pytest.mark.parametrize("path", ["/openapi.json", "/v1/openapi.json"])
def test_the_description_is_kept(host: HostProcess, path: str) -> None:
    """Every answer has a status, a type and a shape that are described; nothing makes the host fail.

    No description says which suites, agents, runs and cursors there are: to be refused for one of them is right.
    """
    schema = schemathesis.openapi.from_url(host.url + path)
    schema.config.update(base_url=host.url + path.removesuffix("/openapi.json"))
    version = "2.0" if path == "/openapi.json" else "1.1"
    tried = []
    for each in schema.get_all_operations():
        operation: Any = each.ok()  # type: ignore[union-attr]
        if operation.path.endswith(("/events", "/poll")):
            continue  # which wait

        @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            case.call_and_validate(
                headers={"OpenWOP-Version": version}, excluded_checks=[positive_data_acceptance]
            )

        ask()
        tried.append(operation.path)
    assert len(tried) >= 7
