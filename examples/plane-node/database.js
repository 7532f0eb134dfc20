// One face for SQLite and PostgreSQL: `all`, `get` and `transaction`, in a transaction also `run`. Statements have `?` for
// values; every integer that is read is a BigInt: `mtime_ns` and `inode` need all 64 bits (VALUE-1, VALUE-4).

export async function connect(url) {
  const { open } = await import(url.startsWith("sqlite:///") ? "./sqlite.js" : "./postgres.js");
  return open(url);
}

/** SCAN-10: what is not known any more of a file whose content is another. */
export const CLEARED = `edge_hash = NULL, hash_algorithm = NULL, content_hash = NULL, hashed_size_bytes = NULL,
  hashed_mtime_ns = NULL, hashed_at = NULL, hash_last_error = NULL, hash_last_error_at = NULL, hash_retry_after = NULL,
  shared_inode = NULL, hash_error_count = 0`;

/**
 * PLANE-7: the connection is gone, and it is not known whether what was to be committed is. Nothing is lost: a job is
 * given back, and its next owner goes on with what is stored.
 */
export class ConnectionLost extends Error {}

/** PLANE-7: rows are locked in the order of their keys before the first of them is written. SQLite has one lock. */
export async function lockFiles(tx, ids) {
  if (!tx.isPostgres || ids.length === 0) return;
  await tx.all("SELECT id FROM library_files WHERE id = ANY(?::bigint[]) ORDER BY id FOR UPDATE", ids.map(String));
}
