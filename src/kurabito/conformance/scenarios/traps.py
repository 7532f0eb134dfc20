"""Traps for removals: copies that lie where none may stay, names that lead elsewhere, files that are in other hands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kurabito.conformance.scenarios.hashes import allow_any_path
from kurabito.conformance.stage import ScenarioStage
from kurabito.protocol.deletion import TRASH_FOLDER

BOTH_GO: Final = "both go"
"""The plan removes either file because the other one stays."""
_IN_TRASH: Final = "kept in a trash"
_IN_OTHER_HANDS: Final = "in other hands"
_PIPE: Final = "a pipe"
_LINKED: Final = {"go": "through a link", "keep": "kept through a link"}
"""Folders on the way to the one that goes and to the one that stays, which are links by the time of the removal."""
REFUSED: Final = {
    _IN_TRASH: ("KEPT_IN_DOUBT", "DELETE-4"),
    f"{_LINKED['go']}/file": ("FILE_MISSING", "DELETE-4"),
    f"{_LINKED['keep']}/file": ("KEPT_MISSING", "DELETE-4"),
    _PIPE: ("FILE_MISSING", "DELETE-4"),
    BOTH_GO: ("KEPT_IN_DOUBT", "DELETE-3"),
    _IN_OTHER_HANDS: ("KEPT_IN_DOUBT", "DELETE-7"),
}
"""Pairs whose copy must stay, by the code and the rule."""
KEPT: Final = {_IN_TRASH: f"keep/{TRASH_FOLDER}/{_IN_TRASH}"}
"""Where the copy that stays is, of pairs that have it in an unusual place."""


def lay(stage: ScenarioStage) -> None:
    """Spoil pairs after they were hashed and before a plan is made of them."""
    folder = stage.recording.folders[1]
    _move_into_trash(stage, folder)
    for side, name in _LINKED.items():
        _lead_elsewhere(folder / side / name, stage.folder / "elsewhere" / name)
    (folder / "go" / _PIPE).unlink()
    os.mkfifo(folder / "go" / _PIPE)
    _have_another_job_remove_it(stage)


def _move_into_trash(stage: ScenarioStage, folder: Path) -> None:
    """As a plane left it that took a trash folder for one of the library."""
    kept = folder / KEPT[_IN_TRASH]
    kept.parent.mkdir()
    (folder / "keep" / _IN_TRASH).rename(kept)
    stage.database.write_blocking(allow_any_path)
    stage.write(
        "UPDATE library_files SET relative_path = :path WHERE relative_path = :before",
        path=KEPT[_IN_TRASH],
        before=f"keep/{_IN_TRASH}",
    )


def _lead_elsewhere(folder: Path, place: Path) -> None:
    """Have a link where a folder was; the same file is found behind it."""
    place.parent.mkdir(exist_ok=True)
    folder.rename(place)
    folder.symlink_to(place)


def _have_another_job_remove_it(stage: ScenarioStage) -> None:
    """A job that lost its plane before it moved the file, and that is not claimed again yet."""
    lost = {"status": "retryable", "error_code": "LEASE_EXPIRED", "error_message": "lost"}
    stage.job("elsewhere", "delete", None, payload='{"plan": 98}', dry_run=0, **lost)
    intent = "12" * 16
    stage.insert(
        "deletion_log",
        id=intent,
        job_id="elsewhere",
        plan_id=98,
        position=1,
        action="trash",
        state="intent",
        library_id=1,
        relative_path=f"keep/{_IN_OTHER_HANDS}",
        kept_library_id=1,
        kept_path="keep/a third copy",
        trash_path=f"{TRASH_FOLDER}/{intent}",
        created_at=stage.now(),
    )
