"""Removals: a plan with steps that can be taken and steps that must be refused, a dry run, a restore and a purge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from kurabito.conformance import trees
from kurabito.conformance.recording import Row
from kurabito.conformance.scenarios import traps
from kurabito.conformance.stage import ScenarioStage
from kurabito.conformance.subject import Subject
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.terms import SECOND_NAME_DIGITS

REFUSED: Final = {
    "changed": ("FILE_CHANGED", "DELETE-4"),
    "kept gone": ("KEPT_MISSING", "DELETE-4"),
    "kept changed": ("KEPT_CHANGED", "DELETE-4"),
    "differs": ("CONTENT_DIFFERS", "DELETE-5"),
    "same file": ("SAME_FILE", "DELETE-4"),
    "needs a hash": ("FILE_CHANGED", "DELETE-3"),
    "kept needs a hash": ("KEPT_CHANGED", "DELETE-3"),
    "vanished": ("FILE_MISSING", "DELETE-4"),
    **traps.REFUSED,
}
"""Pairs whose copy must stay, by the code and the rule."""
TAKEN: Final = ("plain", "deep/er/down", "restored", "occupied", "purged", "last", "rotten")
"""Pairs whose copy goes."""
ABANDONED: Final = "ab" * 16
"""The id of a step that a dead plane had begun, of a job that is over."""
IN_LINE: Final = ("z came first", "a came second")
"""Jobs that wait when the plane comes, in the order of `created_at`. Of scans and hashes there is one at a time."""
REASON: Final = "kept_is_older"
"""Why a file goes."""
DRY_TRASH: Final = "a trash after a dry run"
ODD: Final = {
    "restore unread": {"restore": [traps.UNREAD]},
    "restore away": {"restore": [traps.AWAY]},
    "purge away": {"purge": [traps.AWAY]},
}
"""Jobs about entries that another plane left in the trash."""
MANY: Final = 60
"""Pairs of a plan that is not over before it is looked at."""
_SLOW_TO_COMPARE: Final = 8 << 20
"""Bytes of a file of these: most of the time the plane reads, so that it can be stopped between two of its transactions."""
_LOOK_CLOSELY: Final = 0.002
BEGUN: Final = "cd" * 16
"""The same of a job that is claimed again."""
OTHER: Final = "ef" * 16
"""The id of a step that another plane may have under way."""
SECOND_NAME: Final = f".{'5' * SECOND_NAME_DIGITS}"
"""What a second name has behind the id."""
EMPTY: Final = f".{'0' * SECOND_NAME_DIGITS}"
STRANGE: Final = f".{'a' * SECOND_NAME_DIGITS}"
"""The same of a file that has no other name."""


def remove(stage: ScenarioStage) -> None:
    """Have a plane take a plan dry, for real, and then empty and undo what it did."""
    algorithms = [one.value for one in HashAlgorithm if f"hash.{one}" in stage.capabilities]
    stage.needs("delete.trash")
    _make_pairs(stage, algorithms[0] if algorithms else HashAlgorithm.BLAKE3.value)
    traps.lay(stage)
    dry = stage.plan("trash", [_step(stage, pair) for pair in ("plain", "vanished")])
    real = stage.plan("trash", [*(_step(stage, pair) for pair in (*REFUSED, *TAKEN)), _step_back(stage)])
    _disturb(stage)
    stage.insert("deletion_policy", id=1, allow_delete=0, updated_at=stage.now())
    delete(stage, "not allowed", {"plan": real})
    for name in IN_LINE:
        delete(stage, name, {"restore": []})
    plane = stage.start_plane()
    delete(stage, "dry", {"plan": dry}, dry_run=1)
    stage.wait_for_job("dry")
    stage.reach("dry")
    stage.recording.seen[DRY_TRASH] = (stage.recording.folders[1] / TRASH_FOLDER).exists()
    stage.write("UPDATE deletion_policy SET allow_delete = 1")
    stage.wait_for_job("not allowed")
    stage.reach("removed")
    _begin_step(stage, stage.recording.folders[1])
    stage.wait_for_job("begun")
    stage.reach("begun")
    _empty_trash(stage)
    _switch_off(stage, plane)


def _empty_trash(stage: ScenarioStage) -> None:
    """Have files restored and purged, some of which must stay."""
    folder = stage.recording.folders[1]
    entries = {row["relative_path"]: row["id"] for row in stage.rows("trash_entries")}

    def ask(name: str, moment: str, pairs: Sequence[str]) -> None:
        delete(stage, name, {name: [entries.get(f"go/{pair}", "0" * 32) for pair in pairs]})
        stage.wait_for_job(name)
        stage.reach(moment)

    trees.write(folder, b"go/occupied", traps.OCCUPANT)
    ask("restore", "restored", ("occupied", "restored"))
    (folder / "keep/last").unlink()
    trees.write(folder, b"keep/rotten", b"!" * (folder / "keep/rotten").stat().st_size)
    ask("purge", "purged", ("last", "rotten", "purged"))
    _empty_odd_trash(stage)


def _empty_odd_trash(stage: ScenarioStage) -> None:
    """Ask for a file that was never hashed, and for one whose disk is not mounted."""
    traps.lay_entries(stage)
    for name, payload in ODD.items():
        delete(stage, name, payload)
    for name in ODD:
        stage.wait_for_job(name)
    stage.reach("odd")


def _switch_off(stage: ScenarioStage, plane: Subject) -> None:
    """Take the permission to remove away in the middle of a plan."""
    delete(stage, "switched off", {"plan": stage.plan("trash", [_step(stage, f"{number}") for number in range(MANY)])})
    stage.wait_for(
        lambda: stage.rows("deletion_log", "job_id = 'switched off'"),
        "DELETE-2",
        "a step of the plan",
        every=_LOOK_CLOSELY,
    )
    stage.freeze(plane)
    stage.write("UPDATE deletion_policy SET allow_delete = 0")
    stage.reach("frozen")
    plane.thaw()
    stage.wait_for_job("switched off")
    stage.reach("switched off")


def delete(stage: ScenarioStage, name: str, payload: dict[str, Any], *, dry_run: int = 0) -> None:
    """Ask for a removal, a restore or a purge."""
    stage.job(name, "delete", None, payload=json.dumps(payload), dry_run=dry_run)


def _make_pairs(stage: ScenarioStage, algorithm: str) -> None:
    folder, other = stage.library(1, algorithm=algorithm), stage.library(2, has_holes=True, algorithm=algorithm)
    for number, pair in enumerate((*REFUSED, *TAKEN, "begun")):
        content = bytes([97 + number]) * (40_000 + number)
        trees.write(folder, f"keep/{pair}".encode(), content)
        if pair == "same file":
            (folder / "go" / pair).hardlink_to(folder / "keep" / pair)
        else:
            trees.write(folder, f"go/{pair}".encode(), content)
    for name in (b"one", b"two"):
        trees.write(other, name, b"abandoned" * 9)
    trees.write(other, traps.DISCARDED_PATH.encode(), traps.DISCARDED_CONTENT)
    for side in ("go", "keep"):
        (other / side).mkdir()
        for number in range(MANY):
            trees.write_hole(other / side, f"{number}", _SLOW_TO_COMPARE + number)
    for number in (1, 2):
        stage.job(f"scan {number}", "scan", number)
        stage.let_reference_work()
        stage.job(f"hash {number}", "hash", number)
        stage.let_reference_work()


def _step(stage: ScenarioStage, pair: str) -> dict[str, Any]:
    return step_between(_row(stage, f"go/{pair}"), _row(stage, traps.KEPT.get(pair, f"keep/{pair}")))


def _step_back(stage: ScenarioStage) -> dict[str, Any]:
    """A step that removes what another one keeps."""
    return step_between(_row(stage, f"keep/{traps.BOTH_GO}"), _row(stage, f"go/{traps.BOTH_GO}"))


def _row(stage: ScenarioStage, path: str) -> Row:
    return stage.rows("library_files", "relative_path = :path", path=path)[0]


def step_between(go: Row, keep: Row) -> dict[str, Any]:
    """A step that removes the one because the other stays."""
    same = ("library_id", "relative_path", "size_bytes", "mtime_ns", "hash_algorithm")
    return {
        "file_id": go["id"],
        **{name: go[name] for name in same},
        "content_hash": bytes.fromhex(go["content_hash"]),
        "kept_file_id": keep["id"],
        "kept_library_id": keep["library_id"],
        "kept_path": keep["relative_path"],
        "kept_mtime_ns": keep["mtime_ns"],
        "reason": REASON,
    }


def _disturb(stage: ScenarioStage) -> None:
    """Have what was decided not be so any more."""
    folder = stage.recording.folders[1]
    trees.write(folder, b"go/changed", b"other", trees.OLD_NS + 1)
    (folder / "keep/kept gone").unlink()
    trees.write(folder, b"keep/kept changed", b"other", trees.OLD_NS + 1)
    size = (folder / "go/differs").stat().st_size
    trees.write(folder, b"go/differs", b"!" * size)
    (folder / "go/vanished").unlink()
    _need_hash(stage, ["go/needs a hash", "keep/kept needs a hash"])
    _abandon_step(stage, stage.recording.folders[2])
    traps.abandon_discard(stage, stage.recording.folders[2])


def _need_hash(stage: ScenarioStage, paths: Sequence[str]) -> None:
    for path in paths:
        stage.write("UPDATE library_files SET needs_hash = 1 WHERE relative_path = :path", path=path)


def _abandon_step(stage: ScenarioStage, folder: Path) -> None:
    """As a plane leaves it that dies after it moved a file and before it said so, and whose job was given up."""
    stage.job("dead", "delete", None, payload='{"plan": 99}', dry_run=0, status="failed")
    _move_half_way(stage, folder, "two", "one", {"id": ABANDONED, "job_id": "dead", "plan_id": 99, "library_id": 2})
    # It died while it looked at what it was about to put back.
    trash = folder / TRASH_FOLDER
    (trash / ABANDONED).rename(trash / f"{ABANDONED}{SECOND_NAME}")
    (trash / f"{OTHER}{SECOND_NAME}").write_bytes(b"of another step")


def _begin_step(stage: ScenarioStage, folder: Path) -> None:
    """The same, and the job is claimed again."""
    plan = stage.plan("trash", [_step(stage, "begun")])
    intent = {"id": BEGUN, "job_id": "begun", "plan_id": plan, "library_id": 1}
    _move_half_way(stage, folder, "go/begun", "keep/begun", intent)
    trash = folder / TRASH_FOLDER
    (trash / f"{BEGUN}{SECOND_NAME}").hardlink_to(trash / BEGUN)
    (trash / f"{BEGUN}{EMPTY}").touch()
    (trash / f"{BEGUN}{STRANGE}").write_bytes(b"no other name")
    delete(stage, "begun", {"plan": plan})


def _move_half_way(stage: ScenarioStage, folder: Path, path: str, kept: str, intent: dict[str, Any]) -> None:
    trash = folder / TRASH_FOLDER
    trash.mkdir(mode=0o700, exist_ok=True)
    (folder / path).rename(trash / intent["id"])
    (trash / f"{intent['id']}.json").write_text("{}")
    stage.insert(
        "deletion_log",
        **intent,
        position=1,
        action="trash",
        state="intent",
        relative_path=path,
        kept_library_id=intent["library_id"],
        kept_path=kept,
        trash_path=f"{TRASH_FOLDER}/{intent['id']}",
        created_at=stage.now(),
    )
