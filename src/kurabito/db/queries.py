"""Named queries: SQL lives in `.sql` files beside the store that uses it.

-- name: count_by_state
SELECT state, count(*) FROM tasks GROUP BY state;

A store says `_SQL = Queries("kurabito.x", "y.sql")` once and gives `_SQL.count_by_state` to any connection, which takes the text
in its own dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from kurabito.db.dialect import Dialect

_NAME: Final = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_PART: Final = re.compile(r"\{(\w+)\}")
_LIST: Final = re.compile(r"\{among (\w+)\}")
PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
"""`:name`; not the second colon of a cast, nor anything inside a word."""
_SERVER_NOW: Final = "(extract(epoch FROM transaction_timestamp()) * 1000000)::bigint"


class Query:
    """A statement in the words of each dialect."""

    __slots__ = ("_lists", "_postgres", "_sqlite")

    def __init__(self, text: str) -> None:
        self._sqlite = Dialect.SQLITE.say(text)
        self._postgres = Dialect.POSTGRES.say(text)
        self._lists = frozenset(_LIST.findall(text))

    def text(self, dialect: Dialect) -> str:
        """The statement as this dialect says it."""
        return self._sqlite if dialect is Dialect.SQLITE else self._postgres

    def values(self, dialect: Dialect, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Its parameters, the lists among them as this dialect takes them."""
        if not self._lists:
            return params
        return {name: dialect.list_of(value) if name in self._lists else value for name, value in params.items()}


class Queries:
    """The queries of some files, as attributes. `{word}` in them is the part of that name, or what a dialect says for it."""

    def __init__(self, package: str, *names: str, **parts: str) -> None:
        for name in names:
            for query, text in _split(files(package).joinpath(name).read_text(encoding="utf-8")):
                try:
                    self.__dict__[query] = Query(_PART.sub(lambda found: parts.get(found[1], found[0]), text))
                except KeyError as word:
                    raise LookupError(f"{name}: {query} has {{{word.args[0]}}}, which is no part and no word") from None

    def __getattr__(self, name: str) -> Query:
        raise AttributeError(f"no query is named {name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def texts(self, dialect: Dialect, names: Callable[[str], str] = str) -> QueryTexts:
        """The same queries in one dialect; `names` puts in what their tables are called."""
        return QueryTexts({name: names(query.text(dialect)) for name, query in self.__dict__.items()})


class QueryTexts:
    """The texts of queries in one dialect, as attributes."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.__dict__.update(texts)

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"no query is named {name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)


@cache
def for_postgres(sql: str, server_clock: bool) -> str:
    """The statement in psycopg's own parameter style, with the server's time for `:now` when that is the clock."""

    def parameter(found: re.Match[str]) -> str:
        return _SERVER_NOW if server_clock and found[1] == "now" else f"%({found[1]})s"

    return PARAMETER.sub(parameter, sql.replace("%", "%%"))


def _split(text: str) -> Iterator[tuple[str, str]]:
    parts = _NAME.split(text)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        yield name, body.strip().rstrip(";")
