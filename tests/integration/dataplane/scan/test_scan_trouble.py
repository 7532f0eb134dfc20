"""Folders that vanish, cannot be read, or hold what nobody expects: nothing known is lost over them."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from kurabito.dataplane.files.paths import shown
from kurabito.dataplane.jobs import LeasedJob
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.db import Database

if TYPE_CHECKING:
    from tests.integration.dataplane.scan.conftest import Dying, Shelf

DONE = ("completed", None, None)
NOBODY = 65534


def filled(shelf: Shelf) -> Shelf:
    for name in ("a/1.mkv", "a/2.mkv", "b/3.mkv", "c.mkv", "d.mkv"):
        shelf.write(name, name.encode())
    assert shelf.scan() == DONE
    return shelf


def scanner_that(shelf: Shelf, do: Callable[[], None]) -> Callable[[LeasedJob], None]:
    """A scanner; something happens after its first file, when only the second was looked at."""

    def execute(job: LeasedJob) -> None:
        report, left = job.report, [do]

        def reporting(processed: int, progress: float) -> None:
            report(processed, progress)
            if processed and left:
                left.pop()()

        job.report = reporting  # type: ignore[method-assign]
        Scanner(shelf.state, chunk=1)(job)

    return execute


def test_a_vanished_folder_fails_the_scan_and_loses_nothing(shelf: Shelf) -> None:
    filled(shelf).folder.rename(shelf.folder.parent / "unmounted")
    status, code, message = shelf.scan()
    assert (status, code) == ("failed", "ROOT_UNAVAILABLE")
    assert str(shelf.folder) in message
    assert "mounted" in message
    assert shelf.missing() == set()
    assert shelf.session("status, error_code, error_message") == ("failed", code, message)


def test_an_empty_folder_fails_the_scan_and_loses_nothing(shelf: Shelf) -> None:
    filled(shelf).folder.rename(shelf.folder.parent / "unmounted")
    shelf.folder.mkdir()
    status, code, message = shelf.scan()
    assert (status, code) == ("failed", "ROOT_EMPTY")
    assert "mounted" in message
    assert shelf.missing() == set()


def test_a_folder_without_files_fails_the_scan_too(shelf: Shelf) -> None:
    filled(shelf)
    for path in list(shelf.folder.rglob("*.mkv")):
        path.unlink()
    assert shelf.scan()[:2] == ("failed", "ROOT_EMPTY")
    assert shelf.missing() == set()
    assert shelf.ask("SELECT * FROM scan_findings") == []


def test_a_new_library_may_be_empty(shelf: Shelf) -> None:
    assert shelf.scan() == DONE
    assert shelf.session("status, resume_after, total_paths") == ("succeeded", "", 0)


def test_the_folder_of_a_library_has_the_name_that_is_written_down(shelf: Shelf) -> None:
    """In the names of files this character is an escape; in the path of a library there are none."""
    shelf.folder = shelf.folder.with_name("odd \uef80")
    shelf.folder.mkdir()
    shelf.change("UPDATE library_roots SET root_path = :path", path=str(shelf.folder))
    shelf.write("a.mkv")
    assert shelf.scan() == DONE
    assert shelf.known() == shelf.on_disk()


def test_a_folder_that_is_unmounted_between_two_workers_loses_nothing(shelf: Shelf) -> None:
    filled(shelf)
    job = shelf.begin()

    def vanish() -> None:
        shelf.folder.rename(shelf.folder.parent / "unmounted")
        shelf.folder.mkdir()
        raise InterruptedError

    shelf.write("0.mkv")
    shelf.work(scanner_that(shelf, vanish))
    shelf.again(job)
    shelf.work()
    assert shelf.ask("SELECT error_code FROM jobs WHERE id = :id", id=job) == [("ROOT_EMPTY",)]
    assert shelf.missing() == set()


def test_a_folder_that_is_exchanged_during_the_scan_loses_nothing(shelf: Shelf) -> None:
    filled(shelf)
    (shelf.folder / "d.mkv").unlink()

    def exchange() -> None:
        shelf.folder.rename(shelf.folder.parent / "unmounted")
        shelf.folder.mkdir()

    status, code, message = shelf.scan(scanner_that(shelf, exchange))
    assert (status, code) == ("failed", "ROOT_UNAVAILABLE")
    assert "taken away" in message
    assert shelf.missing() == set()


def test_a_removed_library_fails_its_scan(shelf: Shelf) -> None:
    shelf.begin()
    shelf.change("DELETE FROM library_roots")
    assert shelf.work()
    assert shelf.ask("SELECT status, error_code FROM jobs") == [("failed", "ROOT_UNAVAILABLE")]


@pytest.mark.parametrize("ignored", ["[1]", "{}", "nonsense"])
def test_ignored_names_that_are_no_list_of_texts_fail_the_scan_with_a_sentence(shelf: Shelf, ignored: str) -> None:
    shelf.change("UPDATE library_roots SET ignored = :ignored", ignored=ignored)
    status, code, message = shelf.scan()
    assert (status, code) == ("failed", "WORKER_FAILURE")
    assert message.startswith("the ignored names of the library are no JSON list of texts")
    assert shelf.session("status, error_code, error_message") == ("failed", code, message)


def test_folders_behind_the_last_file_count_in_the_items_of_the_job(shelf: Shelf) -> None:
    shelf.write("a/1.mkv")
    (shelf.folder / "b" / "c").mkdir(parents=True)
    assert shelf.scan() == DONE
    assert shelf.session("files_seen, directories_seen") == (1, 3)
    assert shelf.ask("SELECT processed_items FROM jobs") == [(4,)]


@pytest.fixture
def public_folder(shelf: Shelf) -> Iterator[Path]:
    """A place for the library that a user without any rights comes to; pytest's own is for its owner only."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    shelf.folder = folder / "shelf"
    shelf.folder.mkdir()
    shelf.change("UPDATE library_roots SET root_path = :path", path=str(shelf.folder))
    yield folder
    shutil.rmtree(folder)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root reads everything, so be somebody else for a while."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def connect(database: Database, count: int) -> None:
    """Have as many connections: those that are open stay open, and another user cannot make any."""
    together = Barrier(count)
    with ThreadPoolExecutor(count) as threads:
        for done in [threads.submit(database.read_blocking, lambda _: together.wait(60)) for _ in range(count)]:
            done.result()


@pytest.mark.usefixtures("public_folder")
def test_what_cannot_be_read_is_told_and_nothing_is_taken_for_missing(shelf: Shelf) -> None:
    filled(shelf)
    scanner = Scanner(shelf.state, chunk=2)
    assert shelf.scan(scanner) == DONE
    connect(shelf.plane, 4)
    (shelf.folder / "c.mkv").unlink()
    shelf.write("z.mkv", b"new")
    (shelf.folder / "a").chmod(0)

    def execute(job: LeasedJob) -> None:
        with without_privileges():
            scanner(job)

    try:
        assert shelf.scan(execute) == DONE
    finally:
        (shelf.folder / "a").chmod(0o755)
    assert shelf.missing() == set()
    assert "z.mkv" in shelf.files()
    status, code, message, errors = shelf.session("status, error_code, error_message, error_count")
    assert (status, code, errors) == ("succeeded", "SCAN_INCOMPLETE", 1)
    assert "'a/': Permission denied" in message
    assert shelf.scan() == DONE
    assert shelf.missing() == {"c.mkv"}
    assert shelf.session("error_code, error_count") == (None, 0)


@pytest.mark.usefixtures("public_folder")
def test_a_folder_that_a_successor_may_not_open_any_more_loses_none_of_its_files(shelf: Shelf) -> None:
    """The scan goes on in the middle of that folder: its path is not behind the one at which the first worker ended."""
    for name in ("a/1.mkv", "a/3.mkv", "b.mkv"):
        shelf.write(name)
    assert shelf.scan() == DONE
    # Its threads connect now, and not as another user later.
    scanner = Scanner(shelf.state, chunk=1)
    assert shelf.scan(scanner) == DONE
    connect(shelf.plane, 4)
    job = shelf.begin()
    shelf.change(
        "INSERT INTO scan_sessions (job_id, library_id, started_at, files_seen, directories_seen, resume_after) "
        "VALUES (:job, :library, :now, 2, 1, 'a/2.mkv')",
        job=job,
        library=shelf.id,
    )
    (shelf.folder / "a").chmod(0)

    def execute(job: LeasedJob) -> None:
        with without_privileges():
            scanner(job)

    try:
        assert shelf.work(execute)
    finally:
        (shelf.folder / "a").chmod(0o755)
    assert shelf.missing() == set()
    assert shelf.session("status, error_code, error_count, files_seen, directories_seen") == (
        "succeeded",
        "SCAN_INCOMPLETE",
        1,
        3,
        1,
    )


def test_a_hostile_tree_is_scanned_and_not_left(shelf: Shelf) -> None:
    names: list[str | bytes] = [
        b"caf\xe9.mkv",
        "new\nline.mkv",
        "~$HOME.mkv",
        "x" * 255,
        "é" * 127 + "/" + "日" * 85,
        "two\nlines/\n/in\nner.mkv",
        b"\xff\xfe/inner.mkv",
        b"\xff\xfe/\x80",
        b"cut \xe6\x97.mkv",
        "\\xff",
        "-rf *",
        "\uefe9",
        "'\";--",
    ]
    for name in names:
        shelf.write(name)
    (shelf.folder / "passwd").symlink_to("/etc/passwd")
    (shelf.folder / "etc").symlink_to("/etc")
    (shelf.folder / "loop").symlink_to(shelf.folder)
    (shelf.folder / "self").symlink_to("self")
    (shelf.folder / "two\nlines" / "back").symlink_to("..")
    (shelf.folder / "two\nlines" / "root").symlink_to("/")
    (shelf.folder / "nowhere").symlink_to("not there")
    os.mkfifo(shelf.folder / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(shelf.folder / "socket"))
    os.utime(shelf.folder / "-rf *", ns=(0, 13_000_000_000 * 10**9))
    assert shelf.scan() == DONE
    assert len(shelf.files()) == len(names)
    assert {"\\xff\\xfe/inner.mkv", "new\nline.mkv", "caf\\xe9.mkv"} < {shown(path) for path in shelf.files()}
    assert set(shelf.known()) == set(shelf.on_disk())
    assert shelf.session("error_count") == (0,)
    before = shelf.files("id, updated_at")
    assert shelf.scan() == DONE
    assert shelf.files("id, updated_at") == before


def test_files_may_vanish_and_turn_into_others_during_the_scan(shelf: Shelf) -> None:
    filled(shelf)

    def meddle() -> None:
        shutil.rmtree(shelf.folder / "b")
        (shelf.folder / "b").symlink_to("/etc")
        (shelf.folder / "c.mkv").unlink()
        (shelf.folder / "c.mkv").symlink_to("/etc/passwd")
        (shelf.folder / "d.mkv").unlink()
        os.mkfifo(shelf.folder / "d.mkv")

    assert shelf.scan(scanner_that(shelf, meddle)) == DONE
    # A folder became a link under our eyes: that is no folder that could be read.
    assert shelf.missing() == set()
    assert shelf.session("error_code") == ("SCAN_INCOMPLETE",)
    assert shelf.scan() == DONE
    assert shelf.missing() == {"b/3.mkv", "c.mkv", "d.mkv"}


def test_folders_that_vanish_during_the_scan_are_no_error(shelf: Shelf) -> None:
    for name in ("a/1.mkv", "a/2.mkv", "a/z/0.mkv", "b/3.mkv", "b/c/4.mkv", "d.mkv"):
        shelf.write(name)
    assert shelf.scan() == DONE

    def vanish() -> None:
        # What is listed already, with and without being open, and what is not listed yet.
        for folder in ("a", "b"):
            shutil.rmtree(shelf.folder / folder)
        (shelf.folder / "d.mkv").unlink()
        shelf.write("e.mkv")

    assert shelf.scan(scanner_that(shelf, vanish)) == DONE
    assert shelf.session("error_code, error_count") == (None, 0)
    assert shelf.missing() == {"a/z/0.mkv", "b/3.mkv", "b/c/4.mkv", "d.mkv"}
    assert shelf.scan() == DONE
    assert set(shelf.files()) == {"e.mkv"}


def test_the_trash_is_passed_over_wherever_it_is_and_whoever_goes_on(shelf: Shelf, dying: type[Dying]) -> None:
    # Not even by a pattern does it come back.
    shelf.change("UPDATE library_roots SET ignored = :patterns", patterns='["!.kurabito-trash/"]')
    kept = [
        "a/.kurabito-trash",
        *(f"a/b/{number}.mkv" for number in range(5)),
        "a/z.mkv",
        "z/.kurabito-trash-not/1.mkv",
    ]
    trashed = [".kurabito-trash/1.mkv", "a/b/.kurabito-trash/deep/2.mkv", "z/.kurabito-trash/3.mkv"]
    for path in (*kept, *trashed):
        shelf.write(path)
    job = shelf.begin()
    transactions = 0
    while shelf.ask("SELECT status FROM jobs WHERE id = :id", id=job) != [("completed",)]:
        transactions += 1
        shelf.again(job)
        assert shelf.work(dying(shelf.state, transactions=transactions, chunk=1))
    assert transactions > 2
    assert set(shelf.files()) == set(kept)
    assert shelf.session("files_seen, directories_seen, error_count") == (len(kept), 4, 0)


def test_ignored_names_and_our_own_folder_are_not_scanned(shelf: Shelf) -> None:
    patterns = '["*.nfo", "/extras/", "raw/**/tmp/", "!keep.part"]'
    shelf.change("UPDATE library_roots SET ignored = :patterns", patterns=patterns)
    shelf.state = shelf.folder / "kurabito"
    kept = ["1.mkv", "show/extras/2.mkv", "tmp/3.mkv", "keep.part", "@eaDir"]
    dropped = [
        "kurabito/thumbs/1.jpg",
        "x/@eaDir/1.jpg",
        ".Trash-1000/files/1.mkv",
        ".kurabito-trash/1.mkv",
        "lost+found/1.mkv",
        "2.mkv.part",
        "3.mkv.!qB",
        "show/1.nfo",
        "extras/1.mkv",
        "raw/a/b/tmp/1.mkv",
        "raw/tmp/1.mkv",
    ]
    for path in (*kept, *dropped):
        shelf.write(path)
    assert shelf.scan() == DONE
    assert set(shelf.files()) == set(kept)


def test_what_is_ignored_from_now_on_is_missing(shelf: Shelf) -> None:
    filled(shelf)
    shelf.change("UPDATE library_roots SET ignored = :patterns", patterns='["a/"]')
    assert shelf.scan() == DONE
    assert shelf.missing() == {"a/1.mkv", "a/2.mkv"}
