"""What is in sound and films: one that can be read, one that cannot, and names that lead elsewhere or nowhere."""

from __future__ import annotations

import json
import struct
from typing import Final

from kurabito.conformance import trees
from kurabito.conformance.scenarios.scans import HOUR
from kurabito.conformance.scenarios.upkeep import wait_until_tried
from kurabito.conformance.stage import ScenarioStage

RATE: Final = 8000
SECONDS: Final = 2
SOUND: Final = "sound/two seconds.wav"
BROKEN: Final = "broken.mkv"
EMPTY: Final = "empty.mkv"


def read_media(stage: ScenarioStage) -> None:
    """Have some files of a library read, and a library that is not there."""
    stage.needs("media")
    folder = stage.library(1)
    trees.write(folder, SOUND.encode(), _wav())
    trees.write(folder, BROKEN.encode(), b"no film, whatever its name says")
    trees.write(folder, EMPTY.encode(), b"")
    trees.write(stage.folder / "outside", b"secret.wav", _wav())
    (folder / "link.wav").symlink_to(stage.folder / "outside" / "secret.wav")
    paths = [SOUND, BROKEN, EMPTY, "link.wav", "../outside/secret.wav", "not there.mkv"]
    now = stage.now()
    for number, where in ((1, folder), (2, stage.folder / "not there")):
        stage.insert(
            "inspections",
            id=number,
            kind="media",
            folder=str(where),
            paths=json.dumps(paths),
            created_at=now - HOUR,
            updated_at=now - HOUR,
        )
    stage.start_plane()
    wait_until_tried(stage, "inspections", "MEDIA-1")
    stage.reach("read")


def _wav() -> bytes:
    """Silence, as simple as a file with a length can be."""
    samples = bytes(2 * RATE * SECONDS)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2, 16)
    content = b"WAVE" + form + struct.pack("<4sI", b"data", len(samples)) + samples
    return struct.pack("<4sI", b"RIFF", len(content)) + content
