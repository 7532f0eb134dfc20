"""AniDB's anime-titles.xml: every name of every anime. It has neither kinds nor dates, so it names what others know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Final

from kurabito.metadata.dumps.model import MOST_NAMES, DumpEntry, DumpName, SkippedRows, clean
from kurabito.metadata.dumps.xml_rows import XmlNode, read_elements
from kurabito.metadata.pending import Ids

ROOT: Final = b"<animetitles"
_OWN: Final = frozenset(("main", "official"))
# Not `short`: two letters are the abbreviation of many.
_OTHERS: Final = frozenset(("syn", "kana"))
# AniDB tells namesakes apart by the year, which is no part of the name.
_YEAR: Final = re.compile(r"\s*\(((?:19|20)\d\d)\)$")


def read_titles(stream: IO[bytes], skipped: SkippedRows) -> Iterator[DumpEntry]:
    """The entries of the file."""
    for anime in read_elements(stream, "anime"):
        number = anime.attributes.get("aid", "")
        if not number.isdecimal() or len(number) > 9:
            skipped.note(f"anime {number!r}", "it has no number")
            continue
        names = tuple(_names(anime))
        if not names:
            skipped.note(f"anime {number}", "it has no title")
            continue
        years = {int(found[1]) for node in anime.children if (found := _YEAR.search("".join(node.text)))}
        year = years.pop() if len(years) == 1 else None
        yield DumpEntry(names=names[:MOST_NAMES], ids=Ids(anidb_id=int(number)), year=year)


def _names(anime: XmlNode) -> Iterator[DumpName]:
    for node in anime.children:
        kind, title = node.attributes.get("type"), clean("".join(node.text))
        if node.tag != "title" or not title or kind not in _OWN | _OTHERS:
            continue
        # AniDB writes apostrophes as backquotes.
        title = title.replace("`", "'")
        language = node.attributes.get("xml:lang")
        yield DumpName(title, language, kind in _OWN)
        if (bare := _YEAR.sub("", title).strip()) and bare != title:
            yield DumpName(bare, language, kind in _OWN)
