"""Sites whose search is a feed, described in data: TOML files of ours, and the user's own in the state folder."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kurabito.indexers.errors import SiteInvalid
from kurabito.indexers.port import SearchQuery
from kurabito.indexers.results import Places

FOLDER: Final = "sites"
"""Below the state folder; each file in it describes one site."""
_KEY: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")
_LARGEST_FILE: Final = 64 * 1024
_LATIN: Final = re.compile(r"[^\x20-\u024f]+")
_SIGNS: Final = re.compile(r"[^\w\s.'-]+")
_SEASON: Final = "{season}"
_ELEMENT: Final = r"^[a-z][a-z0-9_.-]{0,59}$"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _QueryTable(_Table):
    longest: int = Field(100, ge=1, le=500)
    letters: str = Field("any", pattern="^(any|latin)$")
    separator: str = Field(" ", max_length=3)
    signs: bool = True
    forms: list[Annotated[str, Field(max_length=100)]] = Field(["{text} {episode}"], min_length=1, max_length=3)


class _PagingTable(_Table):
    first: int = Field(1, ge=0, le=1)
    size: int = Field(50, ge=1, le=1_000)


class _PolitenessTable(_Table):
    interval: float = Field(2.0, ge=0.0, le=600.0)
    per_hour: int = Field(60, ge=1, le=3_600)


class _ItemTable(_Table):
    seeders: str | None = Field(None, pattern=_ELEMENT)
    leechers: str | None = Field(None, pattern=_ELEMENT)
    size: str | None = Field(None, pattern=_ELEMENT)
    info_hash: str | None = Field(None, pattern=_ELEMENT)


class _SiteFile(_Table):
    name: str = Field(min_length=1, max_length=100)
    url: str = Field(min_length=1, max_length=1_000)
    tested: bool = False
    show_url: str | None = Field(None, min_length=1, max_length=1_000)
    query: _QueryTable = Field(default_factory=_QueryTable)
    paging: _PagingTable | None = None
    politeness: _PolitenessTable = Field(default_factory=_PolitenessTable)
    item: _ItemTable = Field(default_factory=_ItemTable)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteDefinition:
    """How one site is searched."""

    key: str
    """The name of its file, by which an indexer names it."""
    name: str
    url: str
    """With `{query}` where the text goes, and `{page}` where the number of a page goes."""
    show_url: str | None
    """The feed of one show, with `{mikan_id}` where its number goes."""
    is_tested: bool
    """False where no answer of the site was seen when it was described."""
    is_own: bool
    """The user described it."""
    longest: int
    letters: str
    separator: str
    takes_signs: bool
    forms: tuple[str, ...]
    """How titles name an episode: `{text}`, `{episode}` and, where they do, `{season}`; each is asked for."""
    first_page: int
    page_size: int
    interval: float
    """Seconds from one request to the next."""
    per_hour: int
    places: Places

    @property
    def has_pages(self) -> bool:
        return "{page}" in self.url

    def texts(self, query: SearchQuery) -> list[str]:
        """What a query is asked as: the text alone, or in each form in which its episode can be named."""
        if query.episode is None:
            return [query.text]
        fitting = [form for form in self.forms if query.season is not None or _SEASON not in form]
        return [_in_form(form, query) for form in fitting or ["{text} {episode}"]]

    def address(self, text: str, page: int = 0, mirror: str | None = None) -> str | None:
        """The URL that answers a query; None where nothing is left of the text that the site could look for."""
        fitting = _LATIN.sub(" ", text) if self.letters == "latin" else text
        fitting = fitting if self.takes_signs else _SIGNS.sub(" ", fitting)
        words = fitting.split()
        while words and len(self.separator.join(words)) > self.longest:
            words.pop()
        if not words:
            return None
        # What is in the path ends at a slash, so that is escaped as well.
        query = self.separator.join(quote(word, safe="") for word in words).replace(" ", "%20")
        url = self.url.replace("{query}", query).replace("{page}", str(self.first_page + page))
        return url if mirror is None else _elsewhere(url, mirror)


def _in_form(form: str, query: SearchQuery) -> str:
    # A season counts its own episodes; a bare number goes on from the season before where titles do.
    episode = query.in_season if _SEASON in form else query.episode
    numbers = form.replace("{episode}", f"{episode:02g}").replace(_SEASON, f"{query.season or 0:02}")
    return numbers.replace("{text}", query.text)


class ShowFeed(NamedTuple):
    """A feed to follow a show by."""

    url: str
    is_of_show: bool
    """It has this season of the show alone; a search also finds other seasons, and other shows of a similar name."""


def feed_of_show(site: SiteDefinition, text: str, mikan_id: int | None, mirror: str | None = None) -> ShowFeed | None:
    """The feed to follow a show by: the site's own for that show, else its search for the text."""
    if site.show_url is not None and mikan_id is not None:
        url = site.show_url.replace("{mikan_id}", str(mikan_id))
        return ShowFeed(url if mirror is None else _elsewhere(url, mirror), is_of_show=True)
    search = site.address(text, 0, mirror)
    return None if search is None else ShowFeed(search, is_of_show=False)


def _elsewhere(url: str, mirror: str) -> str:
    parts, other = urlsplit(url), urlsplit(mirror)
    return parts._replace(scheme=other.scheme, netloc=other.netloc, path=other.path.rstrip("/") + parts.path).geturl()


def read_site(key: str, text: str, *, is_own: bool) -> SiteDefinition:
    """The site that a file describes; raises SiteInvalid."""
    if not _KEY.fullmatch(key):
        raise SiteInvalid(f"{key[:60]!r} is no name for a site's file; use small letters, digits, - and _")
    try:
        told = _SiteFile.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise SiteInvalid(f"the site {key!r} cannot be read: {_fault(error)}") from None
    parts = urlsplit(told.url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "{query}" not in told.url:
        raise SiteInvalid(f"the site {key!r} needs a url that begins with https:// and has {{query}} in it")
    if told.show_url is not None and urlsplit(told.show_url).netloc != parts.netloc:
        raise SiteInvalid(f"the site {key!r} has the feed of a show on another host; write the same host")
    if "{" in parts.netloc:
        raise SiteInvalid(f"the site {key!r} names its host by the query; write the host itself")
    if not all("{text}" in form and "{episode}" in form for form in told.query.forms):
        raise SiteInvalid(f"the site {key!r} has a form of a query without {{text}} or {{episode}}; write both")
    paging = told.paging or _PagingTable()
    return SiteDefinition(
        key=key,
        name=told.name,
        url=told.url,
        show_url=told.show_url,
        is_tested=told.tested,
        is_own=is_own,
        longest=told.query.longest,
        letters=told.query.letters,
        separator=told.query.separator,
        takes_signs=told.query.signs,
        forms=tuple(told.query.forms),
        first_page=paging.first,
        page_size=paging.size,
        interval=told.politeness.interval,
        per_hour=told.politeness.per_hour,
        places=Places(**told.item.model_dump()),
    )


class SiteDefinitions:
    """The sites that can be switched on. A file of the user's own stands in the place of ours with the same name."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def everything(self) -> tuple[dict[str, SiteDefinition], dict[str, str]]:
        """Every site by its key; and what is wrong with files that cannot be read, by theirs."""
        sites, faults = dict(_built_in()), {}
        for path in self._files():
            try:
                sites[path.stem] = read_site(path.stem, _text_of(path), is_own=True)
            except (SiteInvalid, OSError) as error:
                faults[path.stem] = str(error)
        return sites, faults

    def find(self, key: str) -> SiteDefinition:
        """The site; raises SiteInvalid."""
        sites, faults = self.everything()
        if key not in sites:
            raise SiteInvalid(faults.get(key) or f"no site is described as {key!r}; known are {', '.join(sites)}")
        return sites[key]

    def _files(self) -> Iterator[Path]:
        folder = self._folder
        yield from sorted(folder.glob("*.toml")) if folder is not None and folder.is_dir() else ()


@cache
def _built_in() -> dict[str, SiteDefinition]:
    files = sorted(resources.files("kurabito.indexers").joinpath(FOLDER).iterdir(), key=lambda file: file.name)
    texts = {file.name.removesuffix(".toml"): file.read_text("utf-8") for file in files if file.name.endswith(".toml")}
    return {key: read_site(key, text, is_own=False) for key, text in texts.items()}


def _text_of(path: Path) -> str:
    if path.stat().st_size > _LARGEST_FILE:
        raise SiteInvalid(f"the file of the site {path.stem!r} is larger than {_LARGEST_FILE:,} bytes")
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise SiteInvalid(f"the file of the site {path.stem!r} is not UTF-8") from None


def _fault(error: tomllib.TOMLDecodeError | ValidationError) -> str:
    if isinstance(error, tomllib.TOMLDecodeError):
        return str(error)
    first: Any = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
