"""The tables of the protocol, described column by column: what `docs/protocol.md` is written from.

table.py  what is said of one table
library.py, deletion.py, filing.py, thumbnails.py, upkeep.py  the tables, by what they are about
"""

from __future__ import annotations

from typing import Final

from kurabito.protocol.tables.deletion import DELETION_TABLES
from kurabito.protocol.tables.filing import FILING_TABLES
from kurabito.protocol.tables.library import LIBRARY_TABLES
from kurabito.protocol.tables.table import Table
from kurabito.protocol.tables.thumbnails import THUMBNAIL_TABLES
from kurabito.protocol.tables.upkeep import UPKEEP_TABLES

__all__ = ["TABLES", "Table"]

TABLES: Final = (*LIBRARY_TABLES, *DELETION_TABLES, *FILING_TABLES, *THUMBNAIL_TABLES, *UPKEEP_TABLES)
