"""Libraries through the running product: with a data plane played by hand, and with the real one."""

from __future__ import annotations

import functools
import json
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE, Until

from kurabito.db import Connection, Database, leases, open_database
from kurabito.protocol.leased.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

KEY = "a key for the tests"
SESSION = (
    "INSERT INTO scan_sessions (job_id, library_id, status, total_paths, files_seen, added_count, started_at) "
    "VALUES (:job, :library, 'succeeded', 3, 3, 3, :now)"
)


def ask(url: str, method: str = "GET", body: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(url, method=method, headers={"X-Api-Key": KEY, "Content-Type": "application/json"})
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(request, data, timeout=PATIENCE) as answer:
        return json.loads(answer.read() or b"null")


def do_job(database: Database) -> str | None:
    """Claim the job that is pending and complete it; its kind."""

    def work(conn: Connection) -> str | None:
        rows = leases.claim(conn, JOBS, "plane#1", lease=30_000_000, limit=1)
        if not rows:
            return None
        job, kind, library = rows[0][:3]
        if kind == "scan":
            conn.run(SESSION, {"job": job, "library": library})
        ended = [(job, "plane#1", "completed", 1.0, None, None)]
        assert not leases.finish(conn, JOBS, FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)
        return str(kind)

    return database.write_blocking(work)


def test_a_scan_is_asked_for_done_and_followed_by_a_hash(commands: Commands, until: Until, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY) as served:
        api = f"{served.url}/api/v1"
        library = ask(f"{api}/libraries", "POST", {"name": "Films", "path": str(tmp_path / "films")})
        task = ask(f"{api}/libraries/{library['id']}/scan", "POST")["task_id"]
        database = open_database(f"sqlite:///{commands.state / 'kurabito.db'}", create=False)
        database.open()
        done: list[str] = []

        def both_done() -> bool:
            if (kind := do_job(database)) is not None:
                done.append(kind)
            return len(done) == 2

        try:
            until(both_done)
        finally:
            database.close()
        assert done == ["scan", "hash"]
        until(lambda: ask(f"{api}/tasks?task_type=library.hash&state=succeeded")["items"])
        scan = ask(f"{api}/scan-tasks/{task}")
        assert (scan["status"], scan["progress"]) == ("completed", {"scanned_paths": 3, "total_paths": 3})
        assert scan["result"] == {"added_count": 3, "removed_count": 0, "failed_scrape_count": 0}
        library = ask(f"{api}/libraries/{library['id']}")
        assert library["file_count"] == 3
        assert library["last_scanned_at"] is not None
        assert "Traceback" not in served.log.read_text()
        served.process.terminate()
        assert served.leave()[0] == 0


FILES = {
    "films": {"a.mkv": b"one film", "b/copy of a.mkv": b"one film", "alone.mkv": b"no other here is this long"},
    "series": {"again.mkv": b"one film", "same length.mkv": b"two film", "late.mkv": b"but one elsewhere comes to"},
}


@pytest.fixture(params=["sqlite", "postgres"])
def database_setting(request: pytest.FixtureRequest) -> dict[str, str]:
    """The setting that names the database."""
    return {} if request.param == "sqlite" else {"KURABITO_DATABASE": request.getfixturevalue("fresh_postgres")}


class Keeper:
    """Somebody who keeps libraries over the API."""

    def __init__(self, api: str, until: Until) -> None:
        self._api = api
        self._until = until

    def get(self, place: str) -> Any:
        return ask(f"{self._api}/{place}")

    def post(self, place: str, **body: Any) -> Any:
        return ask(f"{self._api}/{place}", "POST", body)

    def scan(self, library: int) -> dict[str, int]:
        """Scan a library, and wait until what follows is done too; what the scan found."""
        task = self.post(f"libraries/{library}/scan")["task_id"]
        self._until(lambda: self.get(f"scan-tasks/{task}")["status"] not in ("pending", "running"))
        done = self.get(f"scan-tasks/{task}")
        assert done["status"] == "completed", done
        self._until(lambda: not self.under_way())
        result: dict[str, int] = done["result"]
        return result

    def under_way(self) -> list[Any]:
        states = ("queued", "running", "retry_scheduled")
        return [
            task
            for state in states
            for kind in ("library.scan", "library.hash")
            for task in self.get(f"tasks?task_type={kind}&state={state}")["items"]
        ]

    def files(self, library: int) -> dict[str, str | None]:
        """The files that are there, each with its hash."""
        found = self.get(f"libraries/{library}/files?missing=false")["items"]
        return {file["relative_path"]: file["content_hash_hex"] for file in found}

    def group(self) -> tuple[str, set[tuple[int, str]]]:
        """The one group that there is: its key, and library and path of its files."""
        (group,) = self.get("duplicates/groups")["items"]
        key = group["group_key"]
        files = self.get(f"duplicates/groups/{urllib.parse.quote(key)}/files")["items"]
        return key, {(file["library_id"], file["relative_path"]) for file in files}

    def done(self, job: str) -> None:
        self._until(lambda: self.get(f"jobs/{job}")["status"] not in ("pending", "running", "retryable"))
        assert self.get(f"jobs/{job}")["status"] == "completed"


def on_disk(folder: Path) -> dict[str, bytes]:
    """Every file, in the trash too, but for what lies beside those and tells of them."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_duplicates_are_found_removed_and_brought_back(
    commands: Commands, until: Until, tmp_path: Path, database_setting: dict[str, str]
) -> None:
    folders = {name: tmp_path / name for name in FILES}
    for name, files in FILES.items():
        for path, content in files.items():
            (folders[name] / path).parent.mkdir(parents=True, exist_ok=True)
            (folders[name] / path).write_bytes(content)
    with commands.serving(KURABITO_API_KEY=KEY, KURABITO_ALLOW_DELETE="true", **database_setting) as served:
        keeper = Keeper(f"{served.url}/api/v1", until)
        films, series = (keeper.post("libraries", name=name, path=str(folders[name]))["id"] for name in FILES)
        # Nothing is known by the name of the folder `b`.
        assert keeper.scan(films) == {"added_count": 3, "removed_count": 0, "failed_scrape_count": 1}
        assert keeper.group()[1] == {(films, "a.mkv"), (films, "b/copy of a.mkv")}
        keeper.scan(series)
        # A file that was unique in its library is not any more, by its size, and is read without a scan of that library.
        until(lambda: keeper.files(films)["alone.mkv"])
        alone = keeper.files(films)["alone.mkv"]
        key, copies = keeper.group()
        assert copies == {(films, "a.mkv"), (films, "b/copy of a.mkv"), (series, "again.mkv")}

        plan = keeper.post("duplicates/plans", group_keys=[key], keep=[{"rule": "in_library", "library_id": series}])
        assert (plan["file_count"], plan["freed_bytes"]) == (2, 16)
        applied = keeper.post(f"duplicates/plans/{plan['id']}/apply", dry_run=False, confirm=True)
        keeper.done(applied["job_id"])
        assert keeper.get(f"duplicates/plans/{plan['id']}")["done"] == 2
        assert keeper.files(films).keys() == {"alone.mkv"}
        assert keeper.get("duplicates/groups")["items"] == []
        trash = {entry["relative_path"]: entry["id"] for entry in keeper.get("trash")["items"]}
        assert trash.keys() == {"a.mkv", "b/copy of a.mkv"}
        assert sorted(on_disk(folders["films"]).values()) == sorted(FILES["films"].values())
        assert not (folders["films"] / "a.mkv").exists()

        keeper.done(keeper.post(f"trash/{trash['a.mkv']}/restore")["job_id"])
        assert (folders["films"] / "a.mkv").read_bytes() == b"one film"
        assert keeper.group() == (key, {(films, "a.mkv"), (series, "again.mkv")})
        assert keeper.scan(films) == {"added_count": 0, "removed_count": 0, "failed_scrape_count": 0}
        assert keeper.files(films) == {"a.mkv": key.partition(":")[2], "alone.mkv": alone}
        assert keeper.group() == (key, {(films, "a.mkv"), (series, "again.mkv")})
        assert on_disk(folders["series"]) == FILES["series"]
        assert "Traceback" not in served.log.read_text()
        served.process.terminate()
        assert served.leave()[0] == 0


def test_whether_files_may_be_removed_is_known_to_every_data_plane(commands: Commands) -> None:
    def stored() -> list[tuple[Any, ...]]:
        database = open_database(f"sqlite:///{commands.state / 'kurabito.db'}", create=False)
        database.open()
        try:
            return database.read_blocking(lambda conn: conn.all("SELECT allow_delete FROM deletion_policy"))
        finally:
            database.close()

    for said, known in (("true", 1), ("false", 0)):
        with commands.serving("--no-dataplane", KURABITO_ALLOW_DELETE=said):
            assert stored() == [(known,)]
        # It stays true for those that outlive the control plane.
        assert stored() == [(known,)]


def test_a_file_can_be_deleted_as_soon_as_that_is_allowed(commands: Commands, until: Until, tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY) as served:
        ask(f"{served.url}/api/v1/libraries", "POST", {"name": "Films", "path": str(tmp_path / "films")})
        database = open_database(f"sqlite:///{commands.state / 'kurabito.db'}", create=False)
        database.open()
        try:
            database.write_blocking(
                lambda conn: conn.run(
                    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
                    "VALUES (1, 'a.mkv', 1, 1, :now, :now)"
                )
            )
        finally:
            database.close()

        def is_offered(*, wanted: bool) -> bool:
            request = urllib.request.Request(f"{served.url}/files/1", headers={"X-Api-Key": KEY, "Accept": "text/html"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as page:
                return (b'action="/files/1/delete"' in page.read()) is wanted

        for is_allowed in (True, False):
            assert is_offered(wanted=not is_allowed)
            ask(f"{served.url}/api/v1/settings", "PATCH", {"values": {"allow_delete": is_allowed}})
            until(functools.partial(is_offered, wanted=is_allowed))
