"""The numbers and lists that the protocol fixes: a data plane in another language has the same ones.

The rules name them in double braces, so that what is written down is what the code does.
"""

from __future__ import annotations

from typing import Final

LEASE_SECONDS: Final = 30.0
HEARTBEAT_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 5.0
"""A plane that has nothing to do looks for work so often, although nothing was announced: rows also become due by time."""

LONGEST_PATH: Final = 4096
"""Characters of a relative path."""

EDGE: Final = 4 * 1024
"""Bytes of each end that an edge sample reads."""
READ_WHOLE: Final = 32 * 1024
"""Up to this size a file is read whole at once: looking at its edges first would cost about as much."""
HASH_SECONDS: Final = 60.0
"""After so long a hash ends also with files left, so that a scan never waits long."""
HASH_RETRY_SECONDS: Final = 60
"""Before a file that could not be read is tried again; twice as long each time."""
HASH_DOUBLINGS: Final = 10

BIRTH_MARGIN_SECONDS: Final = 60
"""A file is looked at a while before that is written down, and the clocks of disk and database may differ."""

IGNORED: Final = (
    "@eaDir/",
    "#recycle/",
    "#snapshot/",
    "$RECYCLE.BIN/",
    "System Volume Information/",
    ".Trash-*/",
    ".Trashes/",
    ".kurabito-trash/",
    "lost+found/",
    "*.part",
    "*.!qB",
    "*.!ut",
    "*.aria2",
    "*.crdownload",
)
"""What every library passes over: bins, thumbnails of a NAS, and downloads that are not there yet."""

SIDECAR_FORMAT: Final = 1
SIDECAR_LARGEST: Final = 64 * 1024
"""Bytes of a sidecar that are read."""
SECOND_NAME_DIGITS: Final = 16
"""Random hex digits behind a name in the trash: a second name, for as long as it takes to look at a file."""

STOP_SECONDS: Final = 6.0
"""How long a data plane that was asked to end is waited for before it is killed."""

NAMED_PROBLEMS: Final = 5
"""How many of the paths that a scan could not look at are named."""
