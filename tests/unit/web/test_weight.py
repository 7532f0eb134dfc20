"""What a browser loads with the first page stays small."""

from __future__ import annotations

from pathlib import Path

import kurabito.web

STATIC = Path(kurabito.web.__file__).parent / "static"
# Of style, program and the letters of titles, also those with accents that few have; as the server sends them.
MOST = 150_000


def test_style_program_and_font_of_the_first_load_fit() -> None:
    first = ("kurabito.css", "kurabito.js", "inter-latin.woff2", "inter-latin-ext.woff2")
    assert sum((STATIC / name).stat().st_size for name in first) <= MOST
