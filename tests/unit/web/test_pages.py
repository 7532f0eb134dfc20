"""Pages as a browser without JavaScript gets them."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from kurabito.protocol import planes
from kurabito.runtime import TaskState
from kurabito.runtime.model import Progress
from kurabito.runtime.outcomes import Failure, Success
from kurabito.runtime.port import Beat, Presence

if TYPE_CHECKING:
    from tests.unit.web.conftest import Site

HOSTILE = "<script>alert('x')</script>\N{RIGHT-TO-LEFT OVERRIDE}שלום"


async def _dead(site: Site, error: str = "boom") -> str:
    task = await site.queue.enqueue("mail", {"to": "a@b"})
    claimed = await site.queue.work.claim("w", {"mail": 1}, 1)
    await site.queue.work.settle([(claimed.tasks[0], Failure(error, permanent=True))])
    return str(task.id)


async def test_an_empty_queue_teaches_the_next_step(site: Site) -> None:
    page = await site.get("/now")
    assert page.status_code == 200
    assert "No tasks yet" in page.text
    assert "queue.enqueue" in page.text


async def test_now_says_what_runs_what_waits_and_for_what_and_what_failed(site: Site) -> None:
    await _dead(site, "PermanentError: no such address")
    site.queue.work.heartbeat([], presence=Presence("w", ("mail", "scan"), 2))
    scan = await site.queue.enqueue("scan")
    claimed = await site.queue.work.claim("w", {"scan": 1}, 1)
    site.queue.work.heartbeat([Beat(claimed.tasks[0], Progress(1234, 5000))])
    await site.queue.enqueue("mail", delay=180)
    await site.queue.enqueue("nobody's")
    text = (await site.get("/now")).text
    assert "1,234 / 5,000" in text
    assert 'max="5000" value="1234"' in text
    assert "in 3 min" in text
    assert "No worker for this task type" in text
    assert "PermanentError: no such address" in text
    assert f'action="/tasks/{scan.id}/cancel"' in text


async def test_foreign_text_is_escaped_wherever_it_is_shown(site: Site) -> None:
    await site.queue.enqueue(HOSTILE, {HOSTILE: HOSTILE}, unique_key=HOSTILE)
    claimed = await site.queue.work.claim("w", {HOSTILE: 1}, 1)
    await site.queue.work.settle([(claimed.tasks[0], Failure(HOSTILE, permanent=True))])
    for path in (
        "/now",
        "/tasks",
        f"/tasks/{claimed.tasks[0].id}",
        f"/tasks?type={HOSTILE}",
        f"/login?next=/{HOSTILE}",
    ):
        text = (await site.get(path)).text
        assert "<script>alert" not in text
        assert not re.search(r"\son\w+=|\sstyle=|<script(?! type=\"module\" src=)", text)


async def test_the_list_is_filtered_and_goes_on_where_a_page_ended(site: Site) -> None:
    dead = await _dead(site)
    await site.queue.enqueue_many([("mail", number) for number in range(60)])
    first = await site.get("/tasks?type=mail")
    assert first.text.count('class="entry"') == 50
    older = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert older is not None
    second = await site.get(older[1].replace("&amp;", "&"))
    assert second.text.count('class="entry"') == 11
    assert 'rel="next"' not in second.text
    only_dead = await site.get("/tasks?state=dead")
    assert re.findall(r'data-task="([^"]+)"', only_dead.text) == [dead]
    assert "No tasks match" in (await site.get("/tasks?type=unheard-of")).text


async def test_a_task_is_shown_with_its_timeline_errors_payload_and_result(site: Site) -> None:
    task = await site.queue.enqueue("mail", {"to": "片桐"}, unique_key="welcome", max_attempts=2)
    claimed = await site.queue.work.claim("w", {"mail": 1}, 1)
    await site.queue.work.settle([(claimed.tasks[0], Failure("first\n  second line"))])
    await site.queue.work.promote()
    claimed = await site.queue.work.claim("w", {"mail": 1}, 1)
    await site.queue.work.settle([(claimed.tasks[0], Success(b'{"sent": true}'))])
    text = (await site.get(f"/tasks/{task.id}")).text
    assert "&#34;to&#34;: &#34;片桐&#34;" in text
    assert "first\n  second line" in text
    assert "&#34;sent&#34;: true" in text
    assert re.findall(r'data-event="(\w+)"', text) == ["Enqueued", "Failed", "Started", "Succeeded"]
    assert "/cancel" not in text
    assert "/retry" not in text


@pytest.mark.parametrize(
    ("payload", "shown"),
    [(b"\xff\x00abc", "ff 00 61 62 63"), (b"plain words", "plain words"), ("x" * 100_000, "Show everything")],
)
async def test_a_payload_of_any_kind_and_size_is_readable(site: Site, payload: object, shown: str) -> None:
    task = await site.queue.enqueue("mail", payload)
    page = await site.get(f"/tasks/{task.id}")
    assert shown in page.text
    assert len(page.text) < 40_000


async def test_buttons_cancel_and_retry_and_lead_back_to_where_they_stood(site: Site) -> None:
    dead = await _dead(site)
    answer = await site.post(f"/tasks/{dead}/retry", next="/tasks?state=dead")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks?state=dead")
    assert (await site.queue.get(dead)).state is TaskState.QUEUED
    answer = await site.post(f"/tasks/{dead}/cancel")
    assert answer.headers["location"] == f"/tasks/{dead}"
    assert (await site.queue.get(dead)).state is TaskState.CANCELLED
    again = await site.post(f"/tasks/{dead}/cancel")
    assert again.status_code == 400
    assert "already finished" in again.text


async def test_what_would_be_lost_is_asked_about_first(site: Site) -> None:
    waiting = await site.queue.enqueue("mail")
    assert 'class="confirm"' not in (await site.get(f"/tasks/{waiting.id}")).text
    claimed = await site.queue.work.claim("w", {"mail": 1}, 1)
    assert "Its unfinished work is lost" in (await site.get(f"/tasks/{waiting.id}")).text
    site.queue.work.heartbeat([Beat(claimed.tasks[0], Progress(5, 10))])
    await site.queue.work.settle([(claimed.tasks[0], Failure("boom", permanent=True))])
    assert "Its progress is lost" in (await site.get(f"/tasks/{waiting.id}")).text


async def test_system_shows_workers_planes_leases_and_where_each_setting_comes_from(site: Site) -> None:
    assert "`kurabito dataplane`" not in (empty := (await site.get("/system")).text)
    assert "<code>kurabito dataplane</code>" in empty
    await site.queue.database.write(lambda conn: planes.announce(conn, "nas-plane", ["scan", "hash"], "9.9", 30.0))
    site.queue.work.heartbeat([], presence=Presence("nas-1", ("mail",), 4))
    await site.queue.enqueue("mail")
    await site.queue.work.claim("nas-1", {"mail": 1}, 1)
    text = (await site.get("/system")).text
    assert 'id="worker-nas-1"' in text
    assert 'id="plane-nas-plane"' in text
    assert "Scans, File comparison" in text
    assert text.count('id="lease-') == 1
    assert "option --state" in text
    assert "in 30 s" in text


async def test_the_reference_is_made_from_the_description(site: Site) -> None:
    text = (await site.get("/docs")).text
    assert "/api/v1/things/{thing_id}" in text
    assert "Look at one &lt;thing&gt;." in text


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nowhere", 404, "Page not found"),
        ("/tasks/0197e3c1-7c2b-7f6e-9d55-0d0c5a8f3b11", 404, "Task not found"),
        ("/tasks/not-a-uuid", 404, "Task not found"),
        ("/tasks?state=sleeping", 422, "This value cannot be used"),
        ("/tasks?cursor=zzz", 422, "This value cannot be used"),
        ("/static/secrets.txt", 404, "Page not found"),
        ("/logout", 405, "This is not possible here"),
    ],
)
async def test_an_error_is_a_page_for_browsers_and_the_one_shape_for_programs(
    site: Site, path: str, status: int, says: str
) -> None:
    page = await site.get(path)
    assert (page.status_code, says in page.text) == (status, True)
    program = await site.client.get(path, headers={"Accept": "*/*"})
    assert program.status_code == status
    assert set(program.json()["error"]) == {"code", "message"}


async def test_below_the_api_even_a_browser_gets_the_one_shape(site: Site) -> None:
    answer = await site.get("/api/v1/nowhere")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


async def test_a_language_and_a_theme_are_chosen_by_link_and_remembered(site: Site) -> None:
    answer = await site.get("/tasks?state=dead&language=ja&theme=dark")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks?state=dead")
    page = await site.get(answer.headers["location"])
    assert '<html lang="ja" data-theme="dark">' in page.text
    assert "該当するタスクはありません" in page.text
    assert (await site.get("/now?language=tlh")).status_code == 200


async def test_errors_speak_the_reader_s_language(site: Site) -> None:
    page = await site.get("/nowhere", **{"Accept-Language": "zh-TW"})
    assert "找不到這個頁面" in page.text


@pytest.mark.parametrize("base_path", ["/kurabito"])
async def test_under_a_base_path_every_link_stays_below_it(site: Site) -> None:
    dead = await _dead(site)
    for path in ("/now", "/tasks", f"/tasks/{dead}", "/system", "/docs", "/nowhere"):
        text = (await site.get(f"/kurabito{path}")).text
        links = re.findall(r'(?:href|src|action|data-events)="([^"]*)"', text)
        assert len(links) > 8
        assert [link for link in links if not link.startswith(("/kurabito", "#"))] == []


async def test_the_page_s_files_may_be_kept_for_ever_because_their_address_changes_with_them(site: Site) -> None:
    text = (await site.get("/now")).text
    (style,) = re.findall(r'rel="stylesheet" href="([^"]+)"', text)
    answer = await site.client.get(style)
    assert answer.headers["content-type"].startswith("text/css")
    assert "immutable" in answer.headers["cache-control"]
    assert "immutable" not in (await site.client.get("/static/kurabito.css?v=old")).headers["cache-control"]
    assert (await site.client.get("/favicon.ico")).headers["content-type"] == "image/svg+xml"


async def test_the_font_comes_with_the_page_and_so_does_its_licence(site: Site) -> None:
    text = (await site.get("/now")).text
    (preloaded,) = re.findall(r'rel="preload" as="font" type="font/woff2" href="([^"]+)"', text)
    (style,) = re.findall(r'rel="stylesheet" href="([^"]+)"', text)
    fonts = re.findall(r'url\("([^"]+)"\)', (await site.client.get(style)).text)
    assert f"/static/{fonts[0]}" == preloaded, (
        "a font that is loaded early must be the one that the style sheet asks for"
    )
    for font in fonts:
        answer = await site.client.get(f"/static/{font}")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "font/woff2"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.content.startswith(b"wOF2")
    licence = files("kurabito.web").joinpath("static", "inter-LICENSE.txt").read_text(encoding="utf-8")
    assert "SIL Open Font License" in licence


async def test_a_task_shows_its_traceback_and_what_is_not_understood(site: Site) -> None:
    await site.queue.enqueue("mail")
    claimed = await site.queue.work.claim("w", {"mail": 1}, 1)
    trace = "Traceback:\n  <in the handler>"
    await site.queue.work.settle([(claimed.tasks[0], Failure("broken", permanent=True, traceback=trace))])
    odd = await site.queue.enqueue("odd")
    claimed_odd = await site.queue.work.claim("w", {"odd": 1}, 1)
    await site.queue.work.settle([(claimed_odd.tasks[0], Success(b"{broken"))])
    page = await site.get(f"/tasks/{claimed.tasks[0].id}")
    assert '<details class="traceback">' in page.text
    assert "&lt;in the handler&gt;" in page.text
    page = await site.get(f"/tasks/{odd.id}")
    assert page.status_code == 200
    assert "Unreadable fields" in page.text
    assert "{broken" in page.text
    assert (await site.get("/tasks")).status_code == 200
