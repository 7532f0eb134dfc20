"""What is seen to by itself while Kurabito is served: a log that grew too large, a picture that is asked for."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import httpx2
from tests.support.waiting import PATIENCE, Until

from kurabito.demo.pictures import draw_poster

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

KEY = "a key for the tests"


def test_a_log_that_grew_is_moved_and_a_picture_is_drawn_from_the_scan_to_the_browser(
    commands: Commands, until: Until
) -> None:
    assert commands.run("db", "migrate").returncode == 0
    shelf = commands.state.parent / "shelf"
    shelf.mkdir()
    (shelf / "storehouse.png").write_bytes(draw_poster("a storehouse"))
    with closing(sqlite3.connect(commands.state / "kurabito.db", isolation_level=None)) as reader:
        # Somebody reads for very long, so that nothing of the log can be moved.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM library_files").fetchone()
        with closing(sqlite3.connect(commands.state / "kurabito.db", isolation_level=None)) as writer:
            writer.execute("CREATE TABLE ballast (content)")
            writer.execute("INSERT INTO ballast VALUES (zeroblob(2000000))")
        environment = {"KURABITO_API_KEY": KEY, "KURABITO_WAL_LIMIT_MB": "1"}
        with commands.serving(**environment) as served, _client(served.url) as http:
            _moves_the_log(http, until, reader)
            _draws_a_picture(http, until, str(shelf))


def _client(url: str) -> httpx2.Client:
    return httpx2.Client(base_url=url, headers={"X-Api-Key": KEY}, timeout=PATIENCE)


def _moves_the_log(http: httpx2.Client, until: Until, reader: sqlite3.Connection) -> None:
    def latest() -> dict[str, Any]:
        found: dict[str, Any] = http.get("/api/v1/maintenance/wal/latest").json()
        return found

    until(lambda: "id" in latest())
    asked = latest()
    assert asked["mode"] == "restart"
    assert "the log grew to" in asked["reason"]
    reader.execute("COMMIT")
    until(lambda: latest()["status"] == "completed")
    done = latest()
    assert (done["id"], done["checkpoint_busy"]) == (asked["id"], 0)
    assert done["checkpointed_frames"] == done["checkpoint_log_frames"]


def _draws_a_picture(http: httpx2.Client, until: Until, shelf: str) -> None:
    library = http.post("/api/v1/libraries", json={"name": "shelf", "path": shelf}).json()
    http.post(f"/api/v1/libraries/{library['id']}/scan").raise_for_status()
    until(lambda: http.get(f"/api/v1/libraries/{library['id']}/files").json()["items"])
    (file,) = http.get(f"/api/v1/libraries/{library['id']}/files").json()["items"]

    def asked() -> dict[str, Any]:
        answer: dict[str, Any] = http.post("/api/v1/thumbs/request", json={"file_id": file["id"]}).json()
        return answer

    until(lambda: asked()["status"] == "ready")
    ready = asked()
    assert (ready["width"], ready["height"]) == (213, 320)
    shown = http.get(f"/api/v1/thumbs/{ready['key']}/content")
    assert shown.headers["Content-Type"] == "image/jpeg"
    assert shown.content.startswith(b"\xff\xd8")
    assert len(shown.content) == ready["bytes_size"]
    system = http.get("/api/v1/system").json()
    assert {"wal", "cleanup"} <= set(system["data_planes"][0]["lines"])
    assert "thumbnails.sweep" in {name for worker in system["workers"] for name in worker["task_types"]}
