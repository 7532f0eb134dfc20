"""The API keeps what its OpenAPI document promises, also to those who send it anything."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.support.waiting import PATIENCE

from kurabito.runtime import TaskState
from kurabito.runtime.paging import BIGGEST_ID

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from tests.integration.api.conftest import Site

KEY = "a key for the tests"
EXAMPLES = 2
# A value may be well written and refused all the same: it depends on folders and rows, is JSON in a cursor, or a pattern.
BEYOND_SCHEMAS = {
    "add_indexer",
    "add_notification_destination",
    "change_indexer",
    "change_filter",
    "change_link",
    "change_notification_destination",
    "change_subscription",
    "create_filter",
    "create_library",
    "create_metadata",
    "create_subscription",
    "create_title_rule",
    "import_files",
    "list_groups",
    "list_jobs",
    "list_release_groups",
    "make_plan",
    "preview_filter",
    "preview_subscription",
    "preview_title_rule",
    "register_service",
    "replace_title_rule",
    "request_thumbnails",
    "search_releases",
}
# They pass on what others answer, and say 502 when that is nothing.
ASKING_OTHERS = {"preview_subscription"}


# Hypothesis sees that somebody used `random`: it is the server, in the other thread.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
# It walks through every operation; on a busy machine that takes its time.
@pytest.mark.timeout(300)
async def test_no_request_meets_an_answer_that_is_not_documented(
    fresh_postgres: str, serve: Callable[..., AbstractAsyncContextManager[Site]]
) -> None:
    # Of the two databases the one that refuses more.
    async with serve(fresh_postgres, acting=True) as site:
        # Streams and waiting claims answer at once then, and are looked at like the others.
        site.live.end()
        task = await site.queue.enqueue("think", {"about": "tea"})
        await asyncio.to_thread(_explore, site.url, str(task.id))


async def test_no_limit_of_the_document_is_higher_than_what_is_taken(site: Site) -> None:
    document = (await site.http.get("/openapi.json")).text
    # Limits are written as floating numbers, which are not every whole number.
    limits = [Decimal(limit) for limit in re.findall(r'"maximum":\s*([0-9.eE+-]+)', document)]
    assert max(limits) == BIGGEST_ID


async def test_every_error_is_documented_in_the_one_shape(site: Site) -> None:
    document = (await site.http.get("/openapi.json")).json()
    shape = {"$ref": "#/components/schemas/ErrorAnswer"}
    operations = {
        (method, path): operation for path, item in document["paths"].items() for method, operation in item.items()
    }
    assert operations.keys() >= {
        ("get", "/health"),
        ("get", "/metrics"),
        ("post", "/api/v1/tasks"),
        ("get", "/api/v1/tasks"),
        ("get", "/api/v1/tasks/counts"),
        ("get", "/api/v1/tasks/{task_id}"),
        ("post", "/api/v1/tasks/{task_id}/cancel"),
        ("post", "/api/v1/tasks/{task_id}/retry"),
        ("get", "/api/v1/events"),
        ("get", "/api/v1/system"),
        ("post", "/api/v1/libraries"),
        ("get", "/api/v1/libraries"),
        ("get", "/api/v1/libraries/{library_id}"),
        ("patch", "/api/v1/libraries/{library_id}"),
        ("delete", "/api/v1/libraries/{library_id}"),
        ("get", "/api/v1/libraries/{library_id}/files"),
        ("post", "/api/v1/libraries/{library_id}/scan"),
        ("get", "/api/v1/libraries/{library_id}/scan-task"),
        ("get", "/api/v1/scan-tasks"),
        ("get", "/api/v1/scan-tasks/{task_id}"),
        ("delete", "/api/v1/scan-tasks/{task_id}"),
        ("post", "/api/v1/jobs"),
        ("get", "/api/v1/jobs"),
        ("post", "/api/v1/jobs/recover-stale"),
        ("get", "/api/v1/jobs/{job_id}"),
        ("post", "/api/v1/jobs/{job_id}/cancel"),
        ("post", "/api/v1/jobs/{job_id}/reset"),
        ("post", "/fetcher-results"),
        ("post", "/raw-fetcher-results"),
        ("get", "/api/v1/raw-items"),
        ("get", "/api/v1/links"),
        ("get", "/api/v1/series"),
        ("get", "/api/v1/series/{series_id}"),
        ("patch", "/api/v1/series/{series_id}"),
        ("get", "/api/v1/series/{series_id}/episodes"),
        ("get", "/api/v1/title-rules"),
        ("post", "/api/v1/title-rules"),
        ("put", "/api/v1/title-rules/{rule_id}"),
        ("delete", "/api/v1/title-rules/{rule_id}"),
        ("post", "/api/v1/title-rules/preview"),
        ("post", "/api/v1/metadata"),
        ("get", "/api/v1/metadata"),
        ("get", "/api/v1/metadata/{metadata_id}"),
        ("patch", "/api/v1/metadata/{metadata_id}"),
        ("delete", "/api/v1/metadata/{metadata_id}"),
        ("post", "/api/v1/metadata/sync"),
        ("get", "/api/v1/calendar"),
        ("post", "/api/v1/calendar/refresh"),
        ("get", "/posters/{name}"),
        ("get", "/api/v1/downloads"),
        ("get", "/api/v1/downloads/{download_id}"),
        ("delete", "/api/v1/downloads/{download_id}"),
        *(
            ("post", f"/api/v1/downloads/{{download_id}}/{action}")
            for action in ("retry", "pause", "resume", "cancel", "send-elsewhere")
        ),
        ("get", "/api/v1/filters"),
        ("post", "/api/v1/filters"),
        ("put", "/api/v1/filters/{rule_id}"),
        ("delete", "/api/v1/filters/{rule_id}"),
        ("post", "/api/v1/filters/preview"),
        ("get", "/api/v1/conflicts"),
        ("post", "/api/v1/conflicts/{conflict_id}/resolve"),
        ("get", "/api/v1/placements"),
        ("post", "/api/v1/placements/{placement_id}/retry"),
        ("post", "/api/v1/placements/{placement_id}/resolve"),
        ("post", "/api/v1/worker/claim"),
        ("post", "/api/v1/worker/tasks/{task_id}/heartbeat"),
        ("post", "/api/v1/worker/tasks/{task_id}/complete"),
        ("post", "/api/v1/worker/tasks/{task_id}/fail"),
    }
    for operation in operations.values():
        errors = {status: body for status, body in operation["responses"].items() if int(status) >= 400}
        assert errors.keys() >= {"401", "403", "503"}
        assert all(body["content"]["application/json"]["schema"] == shape for body in errors.values())
        assert operation.get("description"), operation["operationId"]
    ids = [operation["operationId"] for operation in operations.values()]
    assert len(set(ids)) == len(ids)
    assert "HTTPValidationError" not in document["components"]["schemas"]


async def test_every_state_of_a_task_can_be_counted(quick_site: Site) -> None:
    document = (await quick_site.http.get("/openapi.json")).json()
    assert set(document["components"]["schemas"]["TaskCounts"]["properties"]) == set(TaskState)


def _explore(url: str, task_id: str) -> None:
    """Send valid and invalid requests to every operation, with ids of no task and of one that is there."""
    document: Any = schemathesis.openapi.from_url(f"{url}/openapi.json", headers={"X-Api-Key": KEY}, timeout=PATIENCE)
    for found in document.get_all_operations():
        operation = found.ok()
        name = operation.definition.raw["operationId"]
        excluded = [positive_data_acceptance] if name in BEYOND_SCHEMAS else []
        excluded += [not_a_server_error] if name in ASKING_OTHERS else []
        _send(url, operation.as_strategy(), excluded_checks=excluded)
        if _can_be_asked_wrongly(operation.definition.raw):
            _send(url, operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
        if "{task_id}" in operation.path:
            # A task that is there may be in a state that refuses what is sent well.
            cases = operation.as_strategy(path_parameters={"task_id": task_id})
            _send(url, cases, excluded_checks=[positive_data_acceptance])


def _can_be_asked_wrongly(operation: dict[str, Any]) -> bool:
    """Whether it takes more than any text: to look for a wrong one that does not exist takes most of a second."""
    return "requestBody" in operation or any(
        parameter["in"] not in ("path", "header")
        or parameter["schema"].get("type", "string") != "string"
        or any(f"'{limit}'" in str(parameter["schema"]) for limit in ("maxLength", "pattern"))
        for parameter in operation.get("parameters", ())
    )


def _send(url: str, cases: Any, **options: Any) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def check(case: Any) -> None:
        case.call_and_validate(base_url=url, headers={"X-Api-Key": KEY}, timeout=PATIENCE, **options)

    check()
