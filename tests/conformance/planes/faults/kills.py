"""Faults that show only when a plane is killed in the middle of its work, and another one goes on."""

from __future__ import annotations

import os
import time
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from tests.conformance.planes.faults.fault import fault, put
from tests.conformance.planes.faults.trash import leaves_second_names

from kurabito.dataplane.deletion import steps
from kurabito.dataplane.jobs import JobWork, LeasedJob
from kurabito.dataplane.removal.moves import move_to_trash
from kurabito.protocol.enums import JobKind, JobStatus
from kurabito.protocol.terms import SECOND_NAME_DIGITS

_LONGER_THAN_IT_LIVES: Final = 0.5
"""Seconds: the kit kills a plane sooner after its claim."""


def _take_begun_for_done(kind: JobKind) -> None:
    do = JobWork.do

    def do_once(work: JobWork, job: LeasedJob) -> None:
        begun = Path(os.environ["KURABITO_STATE"]) / f"{job.id} was begun"
        if job.kind is not kind:
            do(work, job)
        elif begun.exists():
            job.finish(JobStatus.COMPLETED)
        else:
            begun.touch()
            time.sleep(_LONGER_THAN_IT_LIVES)
            do(work, job)

    put(JobWork, "do", do_once)


@fault("SCAN-1", check="a killed scan comes to the same end")
def takes_a_scan_that_was_begun_for_done() -> None:
    _take_begun_for_done(JobKind.SCAN)


@fault("HASH-9", check="a killed hash comes to the same end")
def takes_a_hash_that_was_begun_for_done() -> None:
    _take_begun_for_done(JobKind.HASH)


@fault("DELETE-11", check="a killed removal loses nothing")
def takes_a_removal_that_was_begun_for_done() -> None:
    _take_begun_for_done(JobKind.DELETE)


@fault("TRASH-8", check="kills leave no second names")
def leaves_the_second_name_that_it_died_with() -> None:
    leaves_second_names()
    waits = [_LONGER_THAN_IT_LIVES]

    def lay_and_move(pair: Any, aside: Any, *rest: Any) -> Any:
        second = f"{aside.name}.{token_hex(SECOND_NAME_DIGITS // 2)}"
        os.close(os.open(second, os.O_WRONLY | os.O_CREAT, dir_fd=aside.folder))
        time.sleep(waits.pop() if waits else 0)
        os.unlink(second, dir_fd=aside.folder)
        return move_to_trash(pair, aside, *rest)

    put(steps, "move_to_trash", lay_and_move)
