"""Cut the page's font down to what the page uses: font.py PACKAGE

PACKAGE is the unpacked npm package `@fontsource-variable/inter`. Run it with a Python that has fonttools and brotli. What
remains are Latin letters (with the macrons of romanised Japanese), the page's arrows and dashes, and the weights it sets.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Final

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

STATIC: Final = Path(__file__).parent.parent / "src" / "kurabito" / "web" / "static"
WEIGHTS: Final = (400, 700)
FEATURES: Final = ["calt", "ccmp", "kern", "locl", "mark", "mkmk", "tnum"]
LATIN: Final = [*range(0x20, 0x7F), *range(0xA0, 0x100), 0x131, 0x152, 0x153, *range(0x2010, 0x203B), 0x20AC, 0x2122, 0x2190, 0x2191, 0x2192, 0x2193, 0x2212]  # fmt: skip
LATIN_EXT: Final = [*range(0x100, 0x180), *range(0x218, 0x21C)]


def cut(source: Path, target: Path, characters: list[int]) -> None:
    """Write `target` with these characters of `source`, in the page's weights."""
    options = subset.Options(layout_features=FEATURES)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    font = TTFont(source)
    subsetter.subset(font)
    # The instancer needs tables that are whole, so it reads what the subsetter wrote.
    font.flavor = None
    whole = io.BytesIO()
    font.save(whole)
    whole.seek(0)
    font = instantiateVariableFont(TTFont(whole), {"wght": WEIGHTS})
    font.flavor = "woff2"
    font.save(target)
    print(f"{target.name}: {len(font.getBestCmap())} characters, {target.stat().st_size:,} bytes")


def main() -> None:
    package = Path(sys.argv[1])
    files = package / "files"
    cut(files / "inter-latin-wght-normal.woff2", STATIC / "inter-latin.woff2", LATIN)
    cut(files / "inter-latin-ext-wght-normal.woff2", STATIC / "inter-latin-ext.woff2", LATIN_EXT)
    shutil.copyfile(package / "LICENSE", STATIC / "inter-LICENSE.txt")


main()
