"""A dialect: the handful of things in which the SQL of the two databases differs.

A statement is written once, with a word in braces where the databases differ, and `Queries` puts in what each dialect says for
it. `$1` in it is what stands behind the word: `{among ids}` is `IN (SELECT value FROM json_each(:ids))` or `= ANY(:ids)`.

given         the objects of the JSON list `:rows`, each as `given.value`
among         one of the values of a list, which the caller gives as a plain sequence
new, rows     in a statement for many rows (`Connection.run_rows`): a value of the row, and where the rows come from
branch        the first `:limit` rows of one branch of a UNION, in the order of a column
for_update    locks the rows that are read
skip_locked   locks them and passes by those that are locked
indexed_by    names the index to use
enum          a type that has only certain words
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

ROWS: Final = "<rows>"
"""Where a statement takes many rows at once."""

_WORD: Final = re.compile(r"\{(\w+)(?: (\w+))?\}")


@dataclass(frozen=True, eq=False, slots=True)
class Dialect:
    """How one of the databases says what the other says in another way."""

    SQLITE: ClassVar[Dialect]
    POSTGRES: ClassVar[Dialect]

    name: str
    title: str
    """What its makers call the database."""
    has_server: bool
    """Whether a server runs it, with a clock, a version and roles of its own; else it is a file of this machine."""
    list_of: Callable[[Iterable[Any]], Any]
    """A list of values as a parameter."""
    words: Mapping[str, str]
    """What it says for each word that a statement may have in braces."""

    def __str__(self) -> str:
        return self.name

    def say(self, sql: str) -> str:
        """The statement with what this dialect says for the words in braces; raises KeyError for one that it does not know."""
        return _WORD.sub(lambda found: self.words[found[1]].replace("$1", found[2] or ""), sql)


Dialect.SQLITE = Dialect(
    name="sqlite",
    title="SQLite",
    has_server=False,
    list_of=lambda values: json.dumps(list(values)),
    words={
        "given": "json_each(:rows) AS given",
        "among": "IN (SELECT value FROM json_each(:$1))",
        # The statement runs once for each row.
        "new": ":",
        "rows": "",
        # SQLite goes along the branches in the order of the whole.
        "branch": "",
        # There is one writer, so no other transaction has a row.
        "for_update": "",
        "skip_locked": "",
        "indexed_by": "INDEXED BY $1",
        "enum": "text",
        "greatest": "max",
        "position": "instr",
        "string_agg": "group_concat",
    },
)
Dialect.POSTGRES = Dialect(
    name="postgres",
    title="PostgreSQL",
    has_server=True,
    list_of=list,
    words={
        "given": "jsonb_array_elements(CAST(:rows AS jsonb)) AS given (value)",
        "among": "= ANY(:$1)",
        # The statement runs once for all, so that its triggers do too.
        "new": "v.",
        "rows": f"FROM ({ROWS}) AS v",
        # Without this it would sort all the rows of each branch.
        "branch": "ORDER BY $1 LIMIT :limit",
        "for_update": "FOR UPDATE",
        "skip_locked": "FOR UPDATE SKIP LOCKED",
        "indexed_by": "",
        "enum": "$1",
        "greatest": "greatest",
        "position": "strpos",
        "string_agg": "string_agg",
    },
)
