"""Removals of every kind are killed at random moments, and what is on the disk is looked at from outside.

The checker knows nothing of a database: it reads every file there is, in the trash too.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.programs import spoken_to

from kurabito.library.deletion.rules import KeepRules
from kurabito.protocol.deletion import TRASH_FOLDER, DeleteMode

if TYPE_CHECKING:
    from tests.crash.library.conftest import Collection, Planes

PROGRAM = Path(__file__).parents[1] / "dedupe_program.py"
KILLS = 10
MANY_KILLS = int(os.environ.get("KURABITO_SOAK_KILLS", "1000"))
LATEST = {"plan": (400, 0.2), "link": (300, 0.2), "restore": (90, 0.06), "purge": (120, 0.08), "dedupe": (100, 0.2)}
"""About how many moments, and seconds, a removal of each kind takes."""


class Attic:
    """A folder that no library has, for `kurabito dedupe --delete`."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self.folder = folder
        self.state = folder.with_name("dedupe state")

    def fill(self, chance: random.Random, round_: int) -> None:
        """Lay new files there. The keeper has emptied the trash before, or each look would take longer than the last."""
        shutil.rmtree(self.folder / TRASH_FOLDER, ignore_errors=True)
        for number in range(24):
            file = self.folder / f"box {number % 3}" / f"{round_} {number}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(bytes([97 + chance.randrange(8)]) * 40_000)

    def dedupe(self, **moment: float) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"paths": [str(self.folder)], "state": str(self.state), **moment}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@pytest.fixture
def attic(tmp_path: Path) -> Iterator[Attic]:
    with spoken_to(PROGRAM) as process:
        (tmp_path / "attic").mkdir()
        yield Attic(process, tmp_path / "attic")


class Checker:
    """Sees from outside what is there."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self.looks = 0

    def contents(self, *, trash: bool) -> set[bytes]:
        """Every content that some name leads to; without the trash, unless that counts."""
        found = set()
        for folder in self._folders:
            for above, _, names in os.walk(folder):
                if trash or TRASH_FOLDER not in above:
                    found |= {
                        sha256(Path(above, name).read_bytes()).digest() for name in names if not name.endswith(".json")
                    }
        return found

    def remember(self) -> None:
        self._everywhere, self._in_place = self.contents(trash=True), self.contents(trash=False)

    def check(self) -> None:
        """Nothing that was there is gone, and what was in its place has a copy that is in its place."""
        self.looks += 1
        assert self._everywhere <= self.contents(trash=True)
        assert self._in_place <= self.contents(trash=False)


async def test_a_killed_removal_loses_nothing(collection: Collection, planes: Planes, attic: Attic) -> None:
    await _kill_and_check(collection, planes, attic, random.Random("removals 5"), KILLS)


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_many_killed_removals_lose_nothing(
    collection: Collection, planes: Planes, attic: Attic, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = await _kill_and_check(collection, planes, attic, random.Random("removals 2026"), MANY_KILLS)
    with capsys.disabled():
        sys.stdout.write(f"\nsoak of removals on {url.partition(':')[0]}: {summary}\n")


async def _kill_and_check(
    collection: Collection, planes: Planes, attic: Attic, chance: random.Random, kills: int
) -> str:
    checker = Checker(*collection.folders.values(), attic.folder)
    killed: Counter[str] = Counter()
    rounds = 0
    await collection.ask_for_scans()
    await collection.finish(planes)
    while killed.total() < kills:
        rounds += 1
        if rounds % 12 == 0:
            library = 1 + rounds % 2
            collection.change(library, chance, rounds)
            await collection.ask_for_scans(library)
            await collection.finish(planes)
        # Mostly what was killed least, so that every kind is killed about as often.
        rare = min(LATEST, key=lambda kind: (killed[kind], kind))
        kind = await _order(collection, attic, chance, rounds, rare if chance.random() < 0.5 else "plan")
        checker.remember()
        if kind == "dedupe":
            killed[kind] += _kill_dedupe(attic, checker, chance)
        else:
            killed[kind] += await _kill_planes(collection, planes, checker, chance, kind)
        checker.check()
        await collection.check_trash()
    told = ", ".join(f"{count} of {kind}" for kind, count in sorted(killed.items()))
    return f"{killed.total()} kills in {rounds} rounds ({told}); {checker.looks} looks from outside, no content gone"


async def _order(collection: Collection, attic: Attic, chance: random.Random, round_: int, kind: str) -> str:
    """Have something removed, put back or purged, of this kind if there is anything for it; what."""
    entries = (await collection.trash.entries(limit=100)).items
    if kind == "restore" and entries:
        for entry in chance.sample(entries, min(len(entries), 4)):
            await collection.trash.restore(entry.id)
        return kind
    if kind == "purge" and entries:
        await collection.trash.purge()
        return kind
    groups = sorted(f"{algorithm}:{digest.hex()}" for algorithm, digest in await collection.reclaimable())
    if kind in ("plan", "link") and groups:
        mode = DeleteMode.HARDLINK if kind == "link" else DeleteMode.TRASH
        plan = await collection.plans.make(
            KeepRules(), mode=mode, group_keys=chance.sample(groups, min(len(groups), 3))
        )
        await collection.plans.apply(plan.id, dry_run=False, confirm=True)
        return kind
    attic.fill(chance, round_)
    return "dedupe"


def _kill_dedupe(attic: Attic, checker: Checker, chance: random.Random) -> int:
    killed = 0
    while attic.dedupe(**_moment("dedupe", chance)) == "killed":
        killed += 1
        checker.check()
    return killed


async def _kill_planes(
    collection: Collection, planes: Planes, checker: Checker, chance: random.Random, kind: str
) -> int:
    killed = 0
    while await collection.waiting("delete"):
        ended = planes.work(**_moment(kind, chance))
        if ended == "done":
            break
        assert ended == "killed"
        killed += 1
        checker.check()
        await collection.lose_worker()
        checker.check()
    await collection.finish(planes)
    # What a job left that lost too many workers is seen to within the hour; here at once.
    if await collection.ask("SELECT id FROM deletion_log WHERE state = 'intent'"):
        await collection.trash.purge()
        await collection.finish(planes)
    return killed


def _moment(kind: str, chance: random.Random) -> dict[str, float]:
    """When to die: between two steps, or by the clock wherever that is."""
    steps, seconds = LATEST[kind]
    return (
        {"kill_at": chance.randint(1, steps)}
        if chance.random() < 0.7
        else {"kill_after": chance.uniform(0.001, seconds)}
    )
