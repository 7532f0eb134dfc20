"""Taking over the tables of the earlier system, which kept its files, jobs and thumbnails in SQLite under the names that ours have.

It happens around the migrations, in their transaction: an `Aside` moves what would be in their way, they make our tables, and
then it fills those. A row that cannot be carried over as it is stays as it was in a table `earlier_…`. Tables that are not
of the earlier system are left alone, and stop the migration when one has a name that we need.

    tables      what the earlier tables looked like, and what of ours they become
    values      their values, as ours are written
    inspection  which of them a database has, and what else is in the way
    rows        one table's rows, into ours or into `earlier_…`
    takeover    all of it, and the count at the end
"""

from kurabito.db.adoption.inspection import (
    EarlierSource,
    holds_earlier_tables,
    names_made_by,
    refuse_foreign,
    sources_in,
)
from kurabito.db.adoption.rows import KEPT
from kurabito.db.adoption.takeover import Aside, TakenTable

__all__ = [
    "KEPT",
    "Aside",
    "EarlierSource",
    "TakenTable",
    "holds_earlier_tables",
    "names_made_by",
    "refuse_foreign",
    "sources_in",
]
