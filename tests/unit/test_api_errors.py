"""Every error of the HTTP interface has one shape."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx2
import pytest

from kurabito.api import Live, TaskMeter, create_api
from kurabito.errors import DatabaseUnavailable, InvalidInput, KurabitoError, LeaseLost, PayloadTooLarge
from kurabito.protocol.planes import PlaneRecord
from kurabito.runtime.errors import TaskNotFound
from kurabito.runtime.memory import MemoryQueue


class Unreachable(MemoryQueue):
    async def ping(self) -> None:
        raise DatabaseUnavailable("no postgresql://me:pw@secret-host/db")


class NoPlanes:
    async def living(self) -> list[PlaneRecord]:
        return []


def client(queue: MemoryQueue | None = None, *, raising: Exception | None = None) -> httpx2.AsyncClient:
    queue = queue or MemoryQueue()
    api = create_api(
        queue=queue,
        planes=NoPlanes(),
        live=Live(queue),
        meter=TaskMeter(),
        database="sqlite",
        started=datetime.now(UTC),
        settings=list,
    )

    @api.get("/raise")
    async def fail(limit: int = 1) -> None:
        assert raising is not None
        raise raising

    transport = httpx2.ASGITransport(api, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://test")


async def test_health_names_version_and_database() -> None:
    async with client() as http:
        answer = await http.get("/health")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert answer.json()["database"] == "sqlite"


async def test_health_is_503_without_details_when_the_database_does_not_answer() -> None:
    async with client(Unreachable()) as http:
        answer = await http.get("/health")
    assert answer.status_code == 503
    assert answer.json() == {"error": {"code": "database_unavailable", "message": "the database does not answer"}}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (TaskNotFound("no task t1"), 404, "task_not_found"),
        (InvalidInput("limit", "too large"), 422, "invalid_input"),
        (PayloadTooLarge("payload", "over 1 MiB"), 413, "payload_too_large"),
        (LeaseLost("task t1"), 409, "lease_lost"),
        (KurabitoError("unforeseen"), 500, "error"),
    ],
)
async def test_our_errors_keep_their_code(error: KurabitoError, status: int, code: str) -> None:
    async with client(raising=error) as http:
        answer = await http.get("/raise")
    assert (answer.status_code, answer.json()) == (status, {"error": {"code": code, "message": str(error)}})


async def test_a_bug_does_not_tell_strangers_about_itself() -> None:
    async with client(raising=RuntimeError("internals")) as http:
        answer = await http.get("/raise")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "internals" not in answer.text


async def test_a_bad_parameter_is_named() -> None:
    async with client() as http:
        answer = await http.get("/raise?limit=x")
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith("limit: ")


@pytest.mark.parametrize("path", ["/nowhere", "/docs", "/redoc"])
async def test_what_is_not_there_is_404_in_the_same_shape(path: str) -> None:
    async with client() as http:
        answer = await http.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
