"""The values of the code as the rules write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kurabito.clock import SECOND
from kurabito.db import AdvisoryLock
from kurabito.db.table_names import CHANNEL
from kurabito.protocol import terms
from kurabito.protocol.deletion import JOB_MAY_RUN, TRASH_FOLDER
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.leased import inspections, retries, thumbnails
from kurabito.protocol.leased.checkpoints import DOUBLINGS, FIRST_WAIT
from kurabito.protocol.version import SPOKEN, Capability


def _listed(values: list[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _seconds(microseconds: int) -> str:
    return f"{microseconds // SECOND}"


WORDS: Final[Mapping[str, str]] = {
    "version": str(SPOKEN),
    "major": str(SPOKEN.major),
    "capabilities": _listed([str(one) for one in Capability]),
    "lease": f"{terms.LEASE_SECONDS:g}",
    "heartbeat": f"{terms.HEARTBEAT_SECONDS:g}",
    "look_every": f"{terms.LOOK_SECONDS:g}",
    "stop_seconds": f"{terms.STOP_SECONDS:g}",
    "channel": CHANNEL,
    "longest_path": str(terms.LONGEST_PATH),
    "edge": str(terms.EDGE),
    "read_whole": str(terms.READ_WHOLE),
    "hash_seconds": f"{terms.HASH_SECONDS:g}",
    "hash_retry": str(terms.HASH_RETRY_SECONDS),
    "hash_doublings": str(terms.HASH_DOUBLINGS),
    "algorithms": _listed([str(one) for one in HashAlgorithm]),
    "birth_margin": str(terms.BIRTH_MARGIN_SECONDS),
    "ignored": _listed(list(terms.IGNORED)),
    "trash": f"`{TRASH_FOLDER}`",
    "sidecar_format": str(terms.SIDECAR_FORMAT),
    "sidecar_largest": str(terms.SIDECAR_LARGEST),
    "second_name_digits": str(terms.SECOND_NAME_DIGITS),
    "named_problems": str(terms.NAMED_PROBLEMS),
    "may_run": JOB_MAY_RUN,
    "deletion_lock": ", ".join(map(str, AdvisoryLock.DELETION.value)),
    "thumbs": f"`{thumbnails.THUMBS_FOLDER}`",
    "parts": f"`{thumbnails.THUMBS_FOLDER}/{thumbnails.PARTS_FOLDER}`",
    "bucket": f"`{thumbnails.IO_BUCKET}`",
    "smallest": str(thumbnails.SMALLEST),
    "largest": str(thumbnails.LARGEST),
    "most_lost": str(thumbnails.MOST_LOST),
    "thumb_retry": _seconds(thumbnails.retry_delay(1)),
    "thumb_retry_last": _seconds(thumbnails.retry_delay(99)),
    "most_inspected": f"{inspections.MOST_INSPECTED:,}",
    "most_read": str(inspections.MOST_READ),
    "longest_facts": str(inspections.LONGEST_FACTS),
    "wait_first": _seconds(retries.FIRST_WAIT),
    "wait_last": _seconds(retries.LONGEST_WAIT),
    "wait_lost": str(retries.MOST_LOST),
    "checkpoint_retry": _seconds(FIRST_WAIT),
    "checkpoint_retry_last": _seconds(FIRST_WAIT << DOUBLINGS),
}
