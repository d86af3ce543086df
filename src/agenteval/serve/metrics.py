"""Counts of the host for Prometheus: runs by status, workers, requests and their times."""

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

if TYPE_CHECKING:
    from agenteval.serve.host import Host

_registry = CollectorRegistry()
_requests = Counter(
    "agenteval_requests", "Requests by method and status.", ["method", "status"], registry=_registry
)
_seconds = Histogram("agenteval_request_seconds", "Seconds until an answer began.", registry=_registry)
_runs = Gauge("agenteval_runs", "Runs in the store by status.", ["status"], registry=_registry)
_workers = Gauge("agenteval_workers", "Worker processes that are alive.", registry=_registry)
_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"})


def answered(method: str, status: int, seconds: float) -> None:
    """Count an answer. A method that HTTP does not know counts as `other`, so that clients cannot add names."""
    _requests.labels(method if method in _METHODS else "other", str(status)).inc()
    _seconds.observe(seconds)


def exposition(host: "Host") -> tuple[bytes, str]:
    """Return the counts in Prometheus' text format, and the media type of that."""
    _runs.clear()
    for status, number in host.store.counts().items():
        _runs.labels(status).set(number)
    _workers.set(host.workers.alive if host.workers else 0)
    return generate_latest(_registry), CONTENT_TYPE_LATEST
