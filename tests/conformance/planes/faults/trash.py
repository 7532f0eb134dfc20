"""Faults of the trash: its shape, its sidecars, restores and purges."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from tests.conformance.planes.faults.fault import Proxy, edit, fault, nothing, put

from kurabito.dataplane.deletion import job as delete_job
from kurabito.dataplane.deletion import log, steps, trash
from kurabito.dataplane.jobs import JobFailed, LeasedJob
from kurabito.dataplane.removal import file_refs, own_names
from kurabito.dataplane.removal.pairs import Pair
from kurabito.dataplane.removal.sidecar import Sidecar

_SQL = log._SQL


@fault("TRASH-1")
def opens_the_trash_to_all() -> None:
    os.umask(0)
    put(
        file_refs,
        "os",
        Proxy(os, mkdir=lambda name, mode, *, dir_fd: os.mkdir(name, 0o777, dir_fd=dir_fd)),
    )


@fault("TRASH-3")
def writes_no_sidecar() -> None:
    put(Sidecar, "write", nothing)


@fault("TRASH-4")
def purges_the_last_copy() -> None:
    find = trash._Leaving._find_another

    def find_any(leaving: Any, roots: Any, entry: Any, trashed: Any) -> Any:
        try:
            return find(leaving, roots, entry, trashed)
        except file_refs.RemovalRefused:
            os.unlink(trashed.name, dir_fd=trashed.folder)
            return None

    put(trash._Leaving, "_find_another", find_any)


@fault("TRASH-5", check="a restored file is back")
def restores_without_saying_so() -> None:
    edit(_SQL, "file_is_back", "is_missing = 0", "is_missing = 1")


@fault("TRASH-8", check="second names are seen to")
def leaves_second_names() -> None:
    for module in (steps, trash):
        put(module, "settle_leftovers", nothing)


@fault("TRASH-8")
def takes_away_every_second_name() -> None:
    settle = own_names.settle_leftovers

    def take_all(trashed: Any, *others: Any) -> None:
        settle(trashed, *others)
        with os.scandir(trashed.folder) as entries:
            names = [entry.name for entry in entries if own_names._is_own_name(entry.name, trashed)]
        for name in names:
            os.unlink(name, dir_fd=trashed.folder)

    for module in (steps, trash):
        put(module, "settle_leftovers", take_all)


@fault("TRASH-7", check="a purge goes on after a refusal")
def stops_a_purge_at_a_refusal() -> None:
    each = delete_job._each

    def each_or_fail(job: LeasedJob, entries: list[str], act: Any) -> Any:
        if refusals := each(job, entries, act):
            raise JobFailed(refusals[0].error_code, str(refusals[0]))
        return []

    put(delete_job, "_each", each_or_fail)


@fault("TRASH-3")
def tells_of_another_copy_in_the_sidecar() -> None:
    write = Sidecar.write
    put(Sidecar, "write", lambda sidecar, beside: write(replace(sidecar, kept_path=sidecar.path), beside))


@fault("TRASH-4")
def purges_on_the_word_of_a_hash() -> None:
    # Plans compare as they should.
    find = trash._Leaving._find_another

    def find_unread(*args: Any) -> Any:
        compare = put(Pair, "compare", nothing)
        try:
            return find(*args)
        finally:
            put(Pair, "compare", compare)

    put(trash._Leaving, "_find_another", find_unread)


@fault("TRASH-5")
def restores_over_another_file() -> None:
    def rename(trashed: Any, target: Any) -> bool:
        os.rename(trashed.name, target.name, src_dir_fd=trashed.folder, dst_dir_fd=target.folder)
        return True

    put(trash, "put_back", rename)


@fault("TRASH-7", check="a restore tells of a refusal")
def keeps_the_refusals_of_a_restore_to_itself() -> None:
    each = delete_job._each

    def each_in_silence(*args: Any) -> list[Any]:
        each(*args)
        return []

    put(delete_job, "_each", each_in_silence)


@fault("TRASH-5", check="a file without a hash is restored")
def brings_back_only_what_was_hashed() -> None:
    edit(_SQL, "file_is_back", "content_hash IS NULL OR", "content_hash IS NOT NULL AND")


@fault("TRASH-9")
def takes_a_trash_that_is_away_for_an_empty_one() -> None:
    put(
        trash._Leaving,
        "_open",
        lambda _, roots, entry: roots.file(entry.library_id, entry.trash_path, create=True),
    )
