"""Where Kurabito keeps things unless it is told. Apart from the settings, which take long to load."""

from __future__ import annotations

import os
from pathlib import Path


def default_state() -> Path:
    """The user's data directory, as the XDG base directory specification has it."""
    data = os.environ.get("XDG_DATA_HOME", "")
    # The specification says to ignore a relative path.
    home = Path(data) if data.startswith("/") else Path.home() / ".local" / "share"
    return home / "kurabito"
