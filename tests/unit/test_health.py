"""`GET /health`: the list of attention decides what does not work."""

from __future__ import annotations

from collections.abc import Sequence

import httpx2
import pytest
from fastapi import FastAPI

from kurabito.api.system import health
from kurabito.attention import Attention, AttentionCode, AttentionItem, Severity


class Queue:
    """Answers, or does not."""

    def __init__(self, *, is_there: bool = True) -> None:
        self.is_there = is_there

    async def ping(self) -> None:
        if not self.is_there:
            raise ConnectionError("db.internal refused")


def saying(*items: AttentionItem) -> Attention:
    async def look() -> Sequence[AttentionItem]:
        return items

    return Attention({"process": look})


async def ask(attention: Attention, queue: Queue | None = None) -> httpx2.Response:
    api = FastAPI()
    api.include_router(health.router(queue or Queue(), database="memory", attention=attention))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(api), base_url="http://here") as client:
        return await client.get("/health")


def part(severity: Severity, **facts: str) -> AttentionItem:
    return AttentionItem(code=AttentionCode.PART_FAILED, severity=severity, facts=facts)


WORKER = part(Severity.BROKEN, part="worker", why="secret details")
DISK = AttentionItem(code=AttentionCode.DISK_FULL, severity=Severity.BROKEN, facts={"folder": "/srv", "free": 1})


@pytest.mark.parametrize("severity", [Severity.NOTICE, Severity.WARNING])
async def test_what_works_and_may_not_always_is_healthy(severity: Severity) -> None:
    answer = await ask(saying(part(severity, part="feeds")))
    assert answer.status_code == 200
    assert set(answer.json()) == {"status", "version", "database"}


async def test_what_is_broken_is_named_and_why_is_for_those_who_may_know() -> None:
    answer = await ask(saying(WORKER, WORKER, DISK))
    assert answer.status_code == 503
    assert answer.json()["parts"] == ["disk_full", "worker"]
    assert answer.json()["error"]["code"] == "not_working"
    assert "secret" not in answer.text
    assert "/srv" not in answer.text


async def test_a_database_that_does_not_answer_comes_first() -> None:
    alone, both = await ask(saying(), Queue(is_there=False)), await ask(saying(WORKER), Queue(is_there=False))
    assert (alone.status_code, both.status_code) == (503, 503)
    assert alone.json() == {"error": {"code": "database_unavailable", "message": "the database does not answer"}}
    assert both.json()["parts"] == ["database", "worker"]
    assert "db.internal" not in both.text
