"""*Library*: folders are taken into keeping, looked after and let go."""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.waiting import PATIENCE

from kurabito.db import Connection, leases
from kurabito.library.libraries import LibrarySettings
from kurabito.library.removal import REMOVE
from kurabito.library.scans.queue import TaskPriority
from kurabito.protocol import planes
from kurabito.protocol.leased.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS
from kurabito.runtime import Registry, TaskState, Worker

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf
    from tests.integration.web.conftest import Opened, Site

SESSION = (
    "INSERT INTO scan_sessions (job_id, library_id, status, files_seen, bytes_seen, added_count, changed_count, "
    "moved_count, removed_count, error_count, error_code, error_message, started_at) "
    "VALUES (:job, :library, 'succeeded', 1234, 5000000, 7, 6, 5, 4, :errors, :error_code, :message, :now)"
)
LEFT_OUT = "3 folders or files could not be read ('<b>': Permission denied)"
TRASHED = (
    "INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash, "
    "trashed_at) VALUES (:id, 1, 1, 'a.mkv', '.kurabito-trash/a', 5000000, 'blake3', :hash, :now)"
)
HOSTILE = "<img src=x onerror=alert(1)>\n\N{RIGHT-TO-LEFT OVERRIDE}שלום & co.mkv"
# A byte that is no text, as the data plane stores it.
LATIN_1 = "caf\uefe9.avi"


async def end_scan(site: Site, code: str | None = None, message: str | None = None, *, left_out: int = 0) -> None:
    """Play the data plane: take the next job and end it."""
    while await site.reconciler.step():
        pass

    def work(conn: Connection) -> None:
        ((job, kind, library, *_),) = leases.claim(conn, JOBS, "plane#1", lease=30_000_000, limit=1)
        if kind == "scan" and code is None:
            trouble = (
                {"error_code": "SCAN_INCOMPLETE", "message": LEFT_OUT}
                if left_out
                else {"error_code": None, "message": None}
            )
            conn.run(SESSION, {"job": job, "library": library, "errors": left_out, **trouble})
        ended = [(job, "plane#1", "failed" if code else "completed", 1.0, code, message)]
        assert not leases.finish(conn, JOBS, FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)

    await site.queue.database.write(work)
    while await site.reconciler.step():
        pass


async def remove(site: Site) -> None:
    """Play the worker that removes a library."""
    registry = Registry()
    site.library.removal.join(registry)
    async with Worker(site.queue, registry, grace=0.0):
        (task,) = await site.queue.list(task_type=REMOVE)
        assert (await site.queue.wait(task.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED


async def test_what_would_be_lost_with_a_library_is_confirmed_first(site: Site, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    await site.library.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
    values = {"id": "e" * 32, "hash": b"h" * 32}
    page = await site.get("/library/1")
    assert 'name="confirm"' not in page.text
    await site.queue.database.write(lambda conn: conn.run(TRASHED, values))
    asked = await site.post("/library/1/remove")
    assert asked.status_code == 409
    assert "1 file (4.8 MiB) is in its trash. It stays in the folder .kurabito-trash" in asked.text
    assert 'name="confirm" value="yes"' in asked.text
    page = await site.post("/library/1/remove", confirm="yes")
    assert (page.url.path, "Removing" in page.text) == ("/library", True)
    await site.queue.cancel((await site.queue.list(task_type=REMOVE)).items[0].id)
    # A removal that was cancelled half-way is not left without a way out.
    page = await site.get("/library/1")
    assert "Removal stopped halfway" in page.text
    assert 'action="/library/1/remove"' in page.text
    await site.post("/library/1/remove")
    assert "Removing" in (await site.get("/library")).text


async def test_a_folder_is_kept_scanned_changed_and_let_go(site: Site, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    assert "No libraries yet" in (await site.get("/library")).text
    page = await site.post("/library", path=str(tmp_path / "films"), name="Films <b>", scan_interval="3600")
    assert (page.status_code, page.url.path) == (200, "/library/1")
    assert "Films &lt;b&gt;" in page.text
    # It is scanned at once, and who would do that is not there.
    assert "Queued" in page.text
    assert "No data plane is running" in page.text
    await site.queue.database.write(lambda conn: planes.announce(conn, "plane", ["scan"], "1", 30.0))
    assert "No data plane is running" not in (await site.get("/library/1")).text
    await end_scan(site)
    page = await site.get("/library/1")
    assert "7 added · 6 changed · 5 moved · 4 missing" in page.text
    assert "1,234" in page.text
    assert "4.8 MiB" in page.text
    assert "Every 60 min" in page.text

    page = await site.post(
        "/library/1", name="Cinema", scan_interval="", watched="yes", hash_policy="all", ignored="*.part\n@eaDir\n"
    )
    kept = (await site.library.libraries.get(1)).library.settings
    assert (kept.name, kept.scan_interval, kept.watched) == ("Cinema", None, True)
    assert (kept.hash_policy, kept.ignored) == ("all", ("*.part", "@eaDir"))
    assert "*.part\n@eaDir</textarea>" in page.text

    page = await site.post("/library/1/remove")
    assert page.url.path == "/library"
    assert "Removing" in page.text
    # Nothing more can be asked of it.
    page = await site.get("/library/1")
    assert ("Removing" in page.text, 'action="/library/1/scan"' in page.text) == (True, False)
    assert 'action="/library/1/remove"' not in page.text
    await remove(site)
    assert "Cinema" not in (await site.get("/library")).text
    assert (tmp_path / "films").is_dir()
    assert "Library not found" in (await site.get("/library/1")).text


async def test_a_scan_is_asked_for_and_cancelled_where_the_button_stands(site: Site, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    await site.library.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
    assert "Never scanned" in (await site.get("/library")).text
    page = await site.post("/library/1/scan", next="/library")
    assert page.url.path == "/library"
    found = re.search(r'action="(/library/1/cancel/[^"]+)"', page.text)
    assert found is not None
    while await site.reconciler.step():
        pass
    # While it is under way the library is not removed without asking.
    busy = await site.post("/library/1/remove")
    assert (busy.status_code, "that is running is cancelled" in busy.text) == (409, True)
    page = await site.post(found[1], next="/library")
    assert "Last scan cancelled" in page.text
    assert (await site.post(found[1])).status_code == 400
    assert (await site.post("/library/1/cancel/nonsense")).status_code == 404


async def test_a_scan_that_left_something_out_says_so_wherever_it_is_shown(site: Site, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    await site.library.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
    task_id = await site.library.scans.submit_task(1, TaskPriority.HIGH)
    await end_scan(site, left_out=3)
    for path in ("/library", "/library/1", "/tasks", f"/tasks/{task_id}"):
        shown = await site.read(path)
        assert "Some of it could not be read, so no file there was marked missing." in shown, path
        assert "'<b>': Permission denied" in shown, path
    assert "3 items could not be read." in await site.read(f"/tasks/{task_id}")
    answer = (await site.get(f"/api/v1/scan-tasks/{task_id}")).json()
    assert answer["left_out"] == {"count": 3, "message": LEFT_OUT}
    assert answer["result"] == {"added_count": 7, "removed_count": 4, "failed_scrape_count": 0}


async def test_a_scan_that_failed_says_why_and_what_to_do(site: Site, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    await site.library.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
    await site.library.scans.submit_task(1, TaskPriority.HIGH)
    await end_scan(site, "ROOT_EMPTY", "the folder /films is <empty>")
    for path in ("/library", "/library/1"):
        text = (await site.get(path)).text
        assert "Last scan failed" in text
        assert "Its share is probably not mounted" in text
        assert "the folder /films is &lt;empty&gt;" in text
    # Not as the data plane says it, but in the reader's language.
    page = await site.client.get("/library", headers={"Accept-Language": "ja"})
    assert "共有が接続されていない可能性があります" in page.text


REFUSED = [
    ({"path": "{tmp}/nowhere", "name": "Films"}, 422, "path", "This folder cannot be added:"),
    ({"path": "relative", "name": "Films"}, 422, "path", "Enter a full path"),
    ({"path": "{tmp}/taken/below", "name": "Films"}, 409, "path", "overlap. Choose another folder."),
    ({"path": "{tmp}/films", "name": "Taken"}, 409, "name", "This name cannot be used:"),
    ({"path": "{tmp}/films", "name": "F" * 201}, 422, "name", "1 to 200 visible characters"),
    ({"path": "{tmp}/films", "name": "F", "scan_interval": "soon"}, 422, "scan_interval", "number of seconds"),
    (
        {"path": "{tmp}/films", "name": "F", "scan_interval": "1"},
        422,
        "scan_interval",
        "Choose an interval from 1 min to 366 days.",
    ),
    ({"path": "{tmp}/films", "name": "F", "scan_interval": "1e300"}, 422, "scan_interval", "number of seconds"),
    ({"path": "{tmp}/films", "name": "F", "scan_interval": "nan"}, 422, "scan_interval", "number of seconds"),
    (
        {"path": "{tmp}/films", "name": "F", "hash_policy": "some"},
        422,
        "hash_policy",
        "Choose one of the listed values.",
    ),
]


async def test_a_refused_form_names_the_field_and_keeps_what_was_typed(site: Site, tmp_path: Path) -> None:
    for name in ("films", "taken/below"):
        (tmp_path / name).mkdir(parents=True)
    await site.library.libraries.create(str(tmp_path / "taken"), LibrarySettings(name="Taken"))
    for fields, status, field, says in REFUSED:
        sent = {name: value.format(tmp=tmp_path) for name, value in fields.items()}
        page = await site.post("/library", **sent, ignored="*.keep-this")
        assert page.status_code == status, sent
        (problem,) = re.findall(r'data-problem id="(\w+)-problem">(.*?)</p>', page.text)
        assert (problem[0], says in problem[1]) == (field, True), problem
        assert "*.keep-this</textarea>" in page.text
        assert f'value="{sent["path"]}"' in page.text
    assert len((await site.library.libraries.list()).items) == 1
    page = await site.client.post("/library", data={"path": "relative", "name": "F"}, headers={"Accept-Language": "ja"})
    (problem,) = re.findall(r'data-problem id="path-problem">(.*?)</p>', page.text)
    assert "絶対パスを入力してください" in problem
    assert "must be" not in problem


async def test_a_change_that_is_refused_changes_nothing(site: Site, tmp_path: Path) -> None:
    for name in ("films", "series"):
        (tmp_path / name).mkdir()
        await site.library.libraries.create(str(tmp_path / name), LibrarySettings(name=name))
    page = await site.post("/library/2", name="films", ignored="typed")
    assert (page.status_code, "This name cannot be used:" in page.text) == (409, True)
    assert "typed</textarea>" in page.text
    assert (await site.library.libraries.get(2)).library.settings == LibrarySettings(name="series")


async def test_files_are_shown_searched_and_paged_whatever_they_are_called(shelf: Shelf, furnished: Site) -> None:
    for name in (HOSTILE, LATIN_1, "season 1/100% real_one.mkv"):
        shelf.run(
            "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, is_missing, created_at, "
            "updated_at) VALUES (1, :name, 1, :mtime, 1, :now, :now)",
            name=name,
            mtime=2**62,
        )
    for number in range(60):
        shelf.put(f"episode {number:02}.mkv", b"the same" if number < 2 else str(number).encode())
    first = await furnished.get("/library/1")
    assert first.text.count('id="file-') == 50
    assert "<img" not in first.text
    assert '<span class="odd">\\n</span>' in first.text
    assert '<span class="odd">\\u202e</span>' in first.text
    assert 'caf<span class="odd">\\xe9</span>.avi' in first.text
    (group,) = set(re.findall('href="(/duplicates/groups/[^"]+)">2 copies', first.text))
    assert "episode 01.mkv" in unescape((await furnished.get(group)).text)
    feeds = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert feeds is not None
    second = await furnished.get(unescape(feeds[1]))
    assert second.text.count('id="file-') == 13
    assert (await furnished.get("/library/1", missing="yes")).text.count('id="file-') == 3
    assert (await furnished.get("/library/1", contains="0% REAL_")).text.count('id="file-') == 1
    assert "No files match" in (await furnished.get("/library/1", contains="no such\0")).text


async def test_addresses_that_lead_nowhere_say_so(site: Site) -> None:
    for path, status in (
        ("/library/7", 404),
        ("/library/seven", 404),
        ("/library/9999999999999999999", 404),
        ("/library?cursor=x", 422),
        ("/duplicates/groups/nonsense", 422),
        ("/duplicates?cursor=x", 422),
        ("/duplicates/plans/1", 404),
        ("/duplicates/plans/x", 404),
        ("/trash?cursor=x", 422),
    ):
        page = await site.get(path)
        assert (page.status_code, "data-problem" in page.text) == (status, True), path


async def test_a_way_of_placing_files_that_does_not_exist_is_refused_at_its_field(site: Site, tmp_path: Path) -> None:
    answer = await site.post("/library", path=str(tmp_path), name="Films", placement_modes="<script> copy")
    assert answer.status_code == 422
    assert "<script> copy" not in answer.text
    assert "data-problem" in answer.text


async def test_a_folder_is_chosen_from_what_the_server_sees_and_called_like_itself(
    url: str, tmp_path: Path, opened: Opened
) -> None:
    media = tmp_path / "disk" / "My films & <more>"
    media.mkdir(parents=True)
    (media / "A film (2020)").mkdir()
    async with opened(url, tmp_path / "state", browse_roots=(str(tmp_path / "disk"),)) as site:
        assert 'href="/folders"' in (await site.get("/library")).text
        roots = (await site.get("/folders")).text
        assert 'id="take"' not in roots
        assert str(tmp_path / "disk") in roots
        assert 'id="take"' not in (await site.get("/folders", path="/etc")).text
        (inner,) = re.findall(
            r'href="(/folders\?path=[^"]*more[^"]*)"', (await site.get("/folders", path=str(media.parent))).text
        )
        (chosen,) = re.findall(r'id="take" href="([^"#]*)', (await site.get(unescape(inner))).text)
        form = (await site.get(unescape(chosen))).text
        assert f'value="{escape(str(media))}"' in form
        added = await site.post("/library", path=str(media), name="", watched="yes", scan_interval="3600")
        assert '<h1 class="title-foreign"><bdi>My films &amp; &lt;more&gt;</bdi></h1>' in added.text
