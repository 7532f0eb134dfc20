"""The columns that duplicate groups are made of, where they are missing, and the index that they are read from.

A table that was taken over may have some of the columns and not others, so each is looked for.
"""

COLUMNS = {
    "is_missing": "INTEGER NOT NULL DEFAULT 0 CHECK (is_missing IN (0, 1))",
    "needs_hash": "INTEGER NOT NULL DEFAULT 1 CHECK (needs_hash IN (0, 1))",
    "hash_algorithm": "TEXT CHECK (hash_algorithm IN ('blake3', 'sha256'))",
    "content_hash": "BLOB",
}

INDEXES = """
CREATE INDEX ix_library_files_dedup_group ON library_files (hash_algorithm, content_hash, id)
    WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL;
CREATE INDEX ix_library_files_needs_hash ON library_files (library_id, size_bytes, id)
    WHERE needs_hash = 1 AND is_missing = 0;
"""


def apply(conn):
    there = {name for _, name, *_ in conn.raw.execute("PRAGMA table_info(library_files)")}
    for name, definition in COLUMNS.items():
        if name not in there:
            conn.raw.execute(f"ALTER TABLE library_files ADD COLUMN {name} {definition}")
    conn.script(INDEXES)
