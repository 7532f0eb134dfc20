"""Whoever draws or removes thumbnails may be killed at any moment: no row hangs, no picture is half, nothing else is touched."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.programs import spoken_to
from tests.support.waiting import PATIENCE

from kurabito.db import Connection, Database, leases, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol.rights import LEASED

PROGRAM = Path(__file__).with_name("thumbs_program.py")
WORKER = "plane"
MOMENTS = 110
"""About as many as a round has; a later one never comes, and the round is done at once."""
GROUPS = 4
ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'pictures', :path, 0, 0)"
)
ADD_FILE = (
    "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (:id, 1, :name, :size, :mtime, :now, :now)"
)
ADD_THUMBNAIL = (
    "INSERT INTO thumbnails (id, thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes, "
    "source_mtime_ns, output_path, created_at, updated_at) "
    "VALUES (:id, :name, :id, :group, :media, 'jpeg', 100, :size, :mtime, :output, :now, :now)"
)
ADD_CLEANUP = (
    "INSERT INTO thumbnail_cleanup_jobs (group_key, execute_after, created_at, updated_at) "
    "VALUES (:group, :now, :now, :now)"
)


class Gallery:
    """A library, the thumbnails of its files, and the program that sees to them."""

    def __init__(self, database: Database, url: str, folder: Path, process: subprocess.Popen[str]) -> None:
        self._database = database
        self._order = {"url": url, "state": str(folder / "state"), "name": WORKER}
        self._process = process
        self._library = folder / "library"
        self._thumbs = folder / "state" / "thumbs"
        self._contents: dict[str, bytes] = {}
        self._library.mkdir()
        self._thumbs.mkdir(parents=True)
        (folder / "state" / "precious").write_bytes(b"not a thumbnail")
        self.do(ADD_LIBRARY, path=str(self._library))

    def do(self, sql: str, **values: Any) -> None:
        self._database.write_blocking(lambda conn: conn.run(sql, values))

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        return self._database.read_blocking(lambda conn: conn.all(sql))

    def ask_for_more(self, chance: random.Random) -> None:
        """Three new files, their thumbnails, and the end of the thumbnails of some group."""
        for _ in range(3):
            key = len(self._contents) + 1
            name, content = f"{key}.jpg", chance.randbytes(chance.randrange(1, 5000))
            (self._library / name).write_bytes(content)
            found = (self._library / name).stat()
            values = {"id": key, "name": name, "size": found.st_size, "mtime": found.st_mtime_ns}
            self._contents[name] = content
            self.do(ADD_FILE, **values)
            group, media = f"group-{chance.randrange(GROUPS)}", chance.choice(["image", "video"])
            self.do(ADD_THUMBNAIL, **values, group=group, media=media, output=f"{key % 7}/{name}")
        self.do(ADD_CLEANUP, group=f"group-{chance.randrange(GROUPS)}")

    def work(self, kill_at: int = 0) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**self._order, "kill_at": kill_at}) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def lose_worker(self) -> None:
        """What the supervisor does when its data plane is dead."""

        def bury(conn: Connection) -> None:
            for spec in LEASED:
                leases.expire(conn, spec, WORKER)

        self._database.write_blocking(bury)

    def pictures(self) -> dict[str, bytes]:
        files = [path for path in self._thumbs.rglob("*") if path.is_file() and path.parent.name != ".parts"]
        return {str(path.relative_to(self._thumbs)): path.read_bytes() for path in files}

    def check(self) -> None:
        """What holds at every moment."""
        for path, content in self.pictures().items():
            assert content == self._contents[Path(path).name] * 2
        assert {path.name: path.read_bytes() for path in self._library.iterdir()} == self._contents
        assert {path.name for path in self._thumbs.parent.iterdir()} == {"precious", "thumbs"}
        # A cleanup may have come as far as the file; its row goes next.
        cleaning = {key for (key,) in self.ask("SELECT group_key FROM thumbnail_cleanup_jobs WHERE status = 'running'")}
        ready = self.ask("SELECT output_path, group_key FROM thumbnails WHERE status = 'ready'")
        assert {path for path, group in ready if group not in cleaning} <= self.pictures().keys()

    def check_settled(self) -> None:
        """What holds when nobody is killed any more."""
        self.check()
        assert self.ask("SELECT id, status, error_code FROM thumbnails WHERE status <> 'ready'") == []
        assert self.ask("SELECT id, status FROM thumbnail_cleanup_jobs WHERE status <> 'completed'") == []
        assert {path for (path,) in self.ask("SELECT output_path FROM thumbnails")} == self.pictures().keys()


@pytest.fixture(params=["sqlite", "postgres"])
def gallery(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Gallery]:
    url = str(request.getfixturevalue(f"migrated_{request.param}"))
    database = open_database(url)
    database.open()
    migrate(database, PRODUCT)
    with spoken_to(PROGRAM) as process:
        yield Gallery(database, url, tmp_path, process)
    database.close()


def run(gallery: Gallery, kills: int) -> None:
    chance = random.Random(8)
    done = 0
    while done < kills:
        gallery.ask_for_more(chance)
        # A row that loses three workers is given up, so no more than two die in one round.
        for _ in range(chance.randrange(1, 3)):
            ended = gallery.work(chance.randrange(1, MOMENTS))
            assert ended in ("killed", "done")
            done += ended == "killed"
            gallery.check()
            gallery.lose_worker()
        assert gallery.work() == "done"
        gallery.check_settled()


def test_thumbnails_survive_kills(gallery: Gallery) -> None:
    run(gallery, kills=12)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_thumbnails_survive_hundreds_of_kills(gallery: Gallery) -> None:
    run(gallery, kills=300)


DRAWING = """
import os, sys
from kurabito.dataplane.thumbnails.picture import DecodeLimits, Wanted
from kurabito.dataplane.thumbnails.decoder_process import DecoderProcess
from kurabito.protocol.enums import MediaType, ThumbnailFormat
studio = DecoderProcess(MediaType.IMAGE, DecodeLimits())
studio._start()
print(studio._pid, flush=True)
studio.draw(os.open(sys.argv[1], os.O_RDONLY), Wanted(MediaType.IMAGE, ThumbnailFormat.JPEG, 100))
"""


def test_the_process_that_decodes_dies_with_the_one_that_asked(tmp_path: Path) -> None:
    # It never ends: a pipe that nobody writes to.
    os.mkfifo(tmp_path / "endless")
    held = os.open(tmp_path / "endless", os.O_RDWR)
    asking = subprocess.Popen(
        [sys.executable, "-c", DRAWING, str(tmp_path / "endless")], stdout=subprocess.PIPE, text=True
    )
    assert asking.stdout is not None
    decoder = int(asking.stdout.readline())
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    asking.stdout.close()
    until = time.monotonic() + PATIENCE
    while is_alive(decoder):
        assert time.monotonic() < until
        time.sleep(0.01)
    os.close(held)


def is_alive(pid: int) -> bool:
    """A dead one that nobody waited for is no longer alive."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
