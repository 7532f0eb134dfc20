"""Faults of checkpoints, cleanups, inspections and thumbnails."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.conformance.planes.faults.fault import edit, fault, nothing, put

from kurabito.dataplane import inspections, io_limit, main
from kurabito.dataplane.checkpoints import Checkpointed, CheckpointWork
from kurabito.dataplane.inspections import NotInspected
from kurabito.dataplane.io_limit import IoLimit
from kurabito.dataplane.thumbnails import cleanup, media_job
from kurabito.dataplane.thumbnails import job as thumbnail_job
from kurabito.dataplane.thumbnails.decoder_process import DecoderProcess
from kurabito.dataplane.thumbnails.folder import PartialFile, ThumbFolder
from kurabito.dataplane.thumbnails.media_job import MediaWork
from kurabito.dataplane.thumbnails.picture import MediaReading, Wanted
from kurabito.dataplane.thumbnails.source import ThumbnailSource
from kurabito.protocol.leased import checkpoints, thumbnails
from kurabito.protocol.leased.checkpoints import WAL
from kurabito.protocol.leased.cleanups import CLEANUPS
from kurabito.protocol.leased.inspections import FINISH_COLUMNS, INSPECTIONS


@fault("CKPT-1")
def says_a_checkpoint_was_done() -> None:
    answers = iter([Checkpointed(0, 5, 0), Checkpointed(1, 5, 0), Checkpointed(0, 5, 0)])
    put(CheckpointWork, "_checkpoint", lambda *_: next(answers))


@fault("CKPT-2")
def forgets_what_sqlite_answered() -> None:
    checkpoints.SUCCESS_COLUMNS["checkpoint_log_frames"] = "NULL"


@fault("CKPT-3")
def tries_a_busy_checkpoint_at_once() -> None:
    checkpoints.BUSY_COLUMNS["retry_after"] = ":now + 60000000"


@fault("CKPT-4")
def does_not_count_a_lost_checkpoint() -> None:
    put(WAL, "on_recover", {**WAL.on_recover, "retry_count": "retry_count"})


@fault("CLEAN-1")
def cleans_up_what_is_being_drawn() -> None:
    put(CLEANUPS, "claimable", "status = 'pending' AND execute_after <= :now")


@fault("CLEAN-2")
def leaves_the_rows_of_a_group() -> None:
    edit(cleanup._SQL, "forget", "WHERE id = :id", "WHERE id = :id AND 1 = 0")


def _remove_anywhere() -> None:
    thumbs = Path(os.environ["KURABITO_STATE"]) / "thumbs"
    put(ThumbFolder, "remove", lambda _, path: (thumbs / path).unlink(missing_ok=True))


@fault("CLEAN-3")
def removes_what_lies_outside() -> None:
    _remove_anywhere()


@fault("CLEAN-4")
def removes_a_file_of_a_library() -> None:
    _remove_anywhere()


@fault("INSPECT-1")
def lists_files_backwards() -> None:
    columns = inspections._columns
    put(inspections, "_columns", lambda files: columns(files[::-1]))


@fault("INSPECT-2")
def gives_a_missing_folder_up() -> None:
    list_files = inspections.list_files

    def list_or_fail(*args: Any) -> Any:
        try:
            return list_files(*args)
        except NotInspected as problem:
            problem.passes = False
            raise

    put(inspections, "list_files", list_or_fail)


@fault("INSPECT-4")
def miscounts_files() -> None:
    FINISH_COLUMNS["file_count"] = ":file_count + 1"


@fault("MEDIA-1")
def notes_another_size() -> None:
    store = media_job._store
    put(media_job, "_store", lambda row, found: store(row, replace(found, size=found.size + 1)))


@fault("MEDIA-2")
def forgets_the_sound() -> None:
    read = DecoderProcess.read_facts

    def without_sound(self: DecoderProcess, fd: int) -> MediaReading:
        reading = read(self, fd)
        return MediaReading({**reading.facts, "audio": []}, reading.bytes_read)

    put(DecoderProcess, "read_facts", without_sound)


@fault("MEDIA-3")
def miscounts_media() -> None:
    end = MediaWork._end
    put(MediaWork, "_end", lambda self, row, ended: end(self, row, [*ended[:4], 99, ended[5]]))


@fault("WAIT-1")
def waits_for_a_day() -> None:
    put(inspections, "wait_after", lambda _: 86400 * 1_000_000)


@fault("WAIT-1")
def ends_what_it_tries_again() -> None:
    FINISH_COLUMNS["finished_at"] = ":now"


@fault("WAIT-3", check="facts name the folder")
def does_not_name_the_folder() -> None:
    make = NotInspected.__init__

    def make_without(problem: Any, code: Any, *, passes: bool = True, **_: Any) -> None:
        make(problem, code, passes=passes)

    put(NotInspected, "__init__", make_without)


@fault("WAIT-2")
def tries_for_ever() -> None:
    put(INSPECTIONS, "stale_becomes", "'pending'")


@fault("THUMB-1")
def draws_what_killed_three() -> None:
    put(thumbnails, "MOST_LOST", 99)


@fault("THUMB-2")
def draws_another_file() -> None:
    put(ThumbnailSource, "_check", nothing)


@fault("THUMB-3")
def calls_damage_a_failure_of_its_own() -> None:
    thumbnails.FAILED_COLUMNS["error_code"] = "'WORKER_FAILURE'"


@fault("THUMB-4")
def draws_as_large_as_it_likes() -> None:
    put(thumbnail_job, "Wanted", lambda kind, form, _: Wanted(kind, form, 32))


@fault("THUMB-5")
def writes_pictures_anywhere() -> None:
    def publish(part: Any, path: str) -> None:
        (Path(os.environ["KURABITO_STATE"]) / "thumbs" / path).write_bytes(b"picture")

    put(PartialFile, "publish", publish)


@fault("THUMB-6")
def tries_a_picture_at_once() -> None:
    put(thumbnails, "retry_delay", lambda _: 1)


@fault("INSPECT-3")
def lists_a_crowd() -> None:
    put(inspections, "MOST_INSPECTED", 10**9)


@fault("IO-1")
def reserves_nothing() -> None:
    put(IoLimit, "_reserve", lambda limit, conn, _: _warm_up(limit, conn))


def _warm_up(limit: Any, conn: Any) -> float:
    conn.run(io_limit._SQL.warm_up, {"bucket": limit._bucket})
    return 0.0


@fault("IO-1")
def has_a_limit_of_its_own() -> None:
    put(main, "IoLimit", lambda database, rate: IoLimit(database, rate, bucket="mine"))
