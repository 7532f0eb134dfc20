"""Named queries: SQL lives in `.sql` files beside the store that uses it.

-- name: count_by_state
SELECT state, count(*) FROM tasks GROUP BY state;
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Final, Self

_NAME: Final = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)
_PART: Final = re.compile(r"\{(\w+)\}")
# Not the second colon of a cast, nor anything inside a word.
_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_SERVER_NOW: Final = "(extract(epoch FROM transaction_timestamp()) * 1000000)::bigint"


class Queries:
    """The queries of some files, as attributes. `{word}` in them is replaced by the part of that name."""

    def __init__(self, package: str, *names: str, **parts: str) -> None:
        self._queries = {
            query: _PART.sub(lambda found: parts[found[1]], text)
            for name in names
            for query, text in _split(files(package).joinpath(name).read_text(encoding="utf-8"))
        }

    def renamed(self, names: Callable[[str], str]) -> Self:
        """The same queries about tables that have other names."""
        self._queries = {query: names(text) for query, text in self._queries.items()}
        return self

    def __getattr__(self, name: str) -> str:
        try:
            return self._queries[name]
        except KeyError:
            raise AttributeError(f"no query is named {name}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)


@cache
def for_postgres(sql: str, server_clock: bool) -> str:
    """The statement in psycopg's own parameter style, with the server's time for `:now` when that is the clock."""

    def parameter(found: re.Match[str]) -> str:
        return _SERVER_NOW if server_clock and found[1] == "now" else f"%({found[1]})s"

    return _PARAMETER.sub(parameter, sql.replace("%", "%%"))


def _split(text: str) -> Iterator[tuple[str, str]]:
    parts = _NAME.split(text)
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        yield name, body.strip().rstrip(";")
