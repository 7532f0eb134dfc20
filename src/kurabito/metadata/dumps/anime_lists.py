"""Anime-Lists' anime-list.xml: which season of a show of TMDB an anime of AniDB is, and at which episode it begins there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Final

from kurabito.metadata.dumps.model import DumpEntry, FirstEpisode, SkippedRows
from kurabito.metadata.dumps.xml_rows import XmlNode, read_elements
from kurabito.metadata.pending import Ids

ROOT: Final = b"<anime-list"
_LARGEST: Final = 9


def read_offsets(stream: IO[bytes], skipped: SkippedRows) -> Iterator[DumpEntry]:
    """The entries that are a part of a show."""
    for anime in read_elements(stream, "anime"):
        number = _number(anime.attributes, "anidbid")
        if number is None:
            skipped.note(f"anime {anime.attributes.get('anidbid')!r}", "it has no number of AniDB")
            continue
        show = _number(anime.attributes, "tmdbtv")
        if show is not None:
            yield DumpEntry(ids=Ids(anidb_id=number), show=show, first=_first(anime))


def _first(anime: XmlNode) -> FirstEpisode | None:
    """Where it begins; None where its episodes are spread over several places."""
    season = _number(anime.attributes, "tmdbseason")
    if season is None or any(_is_spread(one, season) for node in anime.children for one in node.children):
        return None
    return FirstEpisode((_number(anime.attributes, "tmdboffset") or 0) + 1, season)


def _is_spread(mapping: XmlNode, season: int) -> bool:
    """Whether regular episodes have places of their own."""
    said = mapping.attributes
    return said.get("anidbseason") == "1" and _number(said, "tmdbseason") not in (None, season)


def _number(attributes: Mapping[str, str], name: str) -> int | None:
    text = attributes.get(name, "")
    return int(text) if text.isdecimal() and len(text) <= _LARGEST else None
