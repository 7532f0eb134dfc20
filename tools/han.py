"""Writes what names need to know of Han letters, from the Unicode Han Database.

    python tools/han.py Unihan_Variants.txt Unihan_Readings.txt

The first table has traditional Chinese letters and their simplified forms: letters of Big5, forms of GB 2312. The second has the
readings of kanji, of JIS X 0208: Chinese ones, then Japanese ones, with short vowels.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final

TABLE: Final = Path(__file__).parents[1] / "src" / "kurabito" / "titles" / "han.txt"
HEAD: Final = "# Traditional letters, each with its simplified form. Unicode Han Database, kSimplifiedVariant and kSemanticVariant; Unicode License v3.\n"
READINGS: Final = TABLE.with_name("kanji.txt")
HEAD_OF_READINGS: Final = "# Kanji, each with its Chinese and its Japanese readings. Unicode Han Database, kJapaneseOn and kJapaneseKun; Unicode License v3.\n"
LONG: Final = re.compile(r"([aiueo])(?:\1|(?<=o)u)")
PAIRS_A_LINE: Final = 36
COLUMNS: Final = ("letter", "relation", "others")
ALSO: Final = dict(
    zip(
        "遊妳闇鍊説淨衆裏啓鑑爲峯叄齧殭癒蒐兇佔竈噁嚐託羣",
        "游你暗炼说净众里启鉴为峰叁啮僵愈搜凶占灶恶尝托群",
        strict=True,
    )
)
"""What titles write so, and the database has in another way or not at all."""


def main() -> None:
    variants, readings = (Path(name).read_text(encoding="utf-8").splitlines() for name in sys.argv[1:])
    _write_simplified(variants)
    _write_readings(readings)


def _write_readings(lines: Sequence[str]) -> None:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: {"kJapaneseOn": [], "kJapaneseKun": []})
    for code, relation, said in (line.split("\t") for line in lines if line.count("\t") == len(COLUMNS) - 1):
        letter = _letter(code)
        if relation in ("kJapaneseOn", "kJapaneseKun") and _has("shift_jis", letter):
            found[letter][relation] = sorted({LONG.sub(r"\1", one) for one in said.lower().split()})
    words = [letter + ";".join(",".join(some) for some in said.values()) for letter, said in sorted(found.items())]
    READINGS.write_text(HEAD_OF_READINGS + "\n".join(wrap(" ".join(words), 118)) + "\n", encoding="utf-8")


def _write_simplified(lines: Sequence[str]) -> None:
    rows = [line.split("\t") for line in lines]
    said = {
        (_letter(row[0]), row[1]): [_letter(one) for one in row[2].split()] for row in rows if len(row) == len(COLUMNS)
    }
    letters = {letter for letter, _ in said if _has("big5", letter)}
    pairs = {letter: form for letter in letters if (form := _form(letter, said)) is not None} | ALSO
    written = [letter + form for letter, form in sorted(pairs.items())]
    shown = (" ".join(written[start : start + PAIRS_A_LINE]) for start in range(0, len(written), PAIRS_A_LINE))
    TABLE.write_text(HEAD + "\n".join(shown) + "\n", encoding="utf-8")


def _form(letter: str, said: dict[tuple[str, str], list[str]]) -> str | None:
    """The simplified form of a letter, or of a letter that means the same where it has none itself."""
    own = [form for form in said.get((letter, "kSimplifiedVariant"), ()) if form != letter and _has("gb2312", form)]
    if own or _has("gb2312", letter):
        return own[0] if own else None
    alike = said.get((letter, "kSemanticVariant"), ())
    simple = [form for form in alike if _has("gb2312", form)]
    return simple[0] if simple else next((form for one in alike if one > letter and (form := _form(one, said))), None)


def _letter(code: str) -> str:
    return chr(int(code.partition("<")[0].removeprefix("U+"), 16))


def _has(standard: str, letter: str) -> bool:
    try:
        letter.encode(standard)
    except UnicodeEncodeError:
        return False
    return True


if __name__ == "__main__":
    main()
