"""What happens to a plane. A scenario prepares a stage, lets the plane work on it, and names the moments that checks look at.

joining.py    a plane starts, lives and is asked to end; a database of another major version
scans.py      a first scan of an odd tree, a second one after changes, folders that are gone
rescans.py    folders that may not be read, a trash that is older than its library, another policy
hashes.py     copies, files that only look alike, and rows and files that are not what they were
clocks.py     a machine whose clock is an hour off
leases.py     stale rows, a cancelled job while the plane stood still, a plane that is asked to end in the middle
kills.py      a plane that is killed again and again
removals.py   plans, restores and purges;  discarding.py  deleted files;  traps.py  what they must not fall for;  pools.py  a file that is seen through two mounts
placing.py    files on their way into a library
thumbnails.py thumbnails
media.py      what is in sound and films
upkeep.py     checkpoints, cleanups of thumbnails, inspections
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from kurabito.conformance.scenarios import (
    clocks,
    discarding,
    hashes,
    joining,
    kills,
    leases,
    media,
    placing,
    pools,
    removals,
    scans,
    thumbnails,
    upkeep,
)
from kurabito.conformance.stage import ScenarioStage

Scenario = Callable[[ScenarioStage], None]

JOINING: Final = "joining"
SCENARIOS: Final[Mapping[str, Scenario]] = MappingProxyType(
    {
        JOINING: joining.join,
        "another major": joining.meet_another_major,
        "scanning": scans.scan,
        "hashing": hashes.hash_files,
        clocks.SKEWED: clocks.skew,
        "leases": leases.lose_leases,
        "removing": removals.remove,
        "discarding": discarding.discard,
        "a pool": pools.remove_from_pool,
        "checkpoints": upkeep.checkpoint,
        "cleanups": upkeep.clean_up,
        "inspections": upkeep.inspect,
        "media": media.read_media,
        "placing": placing.place,
        "drawing": thumbnails.draw,
        "killed": kills.kill,
        "two planes": leases.share,
    }
)
"""By name, in the order in which they are played. The first one finds out what a plane can do."""
LONG: Final = frozenset({"killed", "two planes"})
"""Those that are left out of a short run."""
