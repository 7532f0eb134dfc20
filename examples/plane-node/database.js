// One face for SQLite and PostgreSQL. Statements have `?` for values; every integer that is read is a BigInt, because
// `mtime_ns` and `inode` need all 64 bits (VALUE-1, VALUE-4).

const SERVER_NOW = "SELECT (extract(epoch FROM transaction_timestamp()) * 1000000)::bigint AS now";

const BROKEN_OFF = ["40P01", "40001"]; // deadlock, serialization

/** SCAN-10: what is not known any more of a file whose content is another. */
export const CLEARED = `edge_hash = NULL, hash_algorithm = NULL, content_hash = NULL, hashed_size_bytes = NULL,
  hashed_mtime_ns = NULL, hashed_at = NULL, hash_last_error = NULL, hash_last_error_at = NULL, hash_retry_after = NULL,
  shared_inode = NULL, hash_error_count = 0`;

export async function connect(url) {
  const isFile = url.startsWith("sqlite:///");
  return isFile ? openSqlite(decodeURIComponent(url.slice("sqlite:///".length))) : openPostgres(url);
}

async function openSqlite(file) {
  const { default: Sqlite } = await import("better-sqlite3");
  // PLANE-6: try for at least 30 seconds when the database is busy. A plane does not make the database.
  const handle = new Sqlite(file, { timeout: 60_000, fileMustExist: true });
  handle.defaultSafeIntegers(true);
  handle.pragma("synchronous = FULL"); // PLANE-6: what is said about a disk is durable. WAL mode stays as it is.
  const prepared = new Map();
  const prepare = (sql) => {
    if (!prepared.has(sql)) prepared.set(sql, handle.prepare(sql));
    return prepared.get(sql);
  };
  const statements = {
    forUpdate: "", // BEGIN IMMEDIATE has locked everything already
    planOf: "json_extract(jobs.payload, '$.plan')",
    all: async (sql, ...values) => prepare(sql).all(...values),
    get: async (sql, ...values) => prepare(sql).get(...values),
    run: async (sql, ...values) => prepare(sql).run(...values).changes,
  };
  return {
    ...statements,
    async transaction(work) {
      handle.exec("BEGIN IMMEDIATE"); // PLANE-6
      try {
        const result = await work({ ...statements, now: BigInt(Date.now()) * 1000n }); // VALUE-1: this machine's clock
        handle.exec("COMMIT");
        return result;
      } catch (error) {
        if (handle.inTransaction) handle.exec("ROLLBACK");
        throw error;
      }
    },
    close: async () => handle.close(),
  };
}

async function openPostgres(url) {
  const { default: pg } = await import("pg");
  pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
  pg.types.setTypeParser(pg.types.builtins.INT4, BigInt);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SET ROLE kurabito_dataplane"); // PLANE-7
  const query = (sql, values) => {
    let count = 0;
    return client.query(sql.replaceAll("?", () => `$${++count}`), values);
  };
  const statements = {
    forUpdate: "FOR UPDATE SKIP LOCKED", // LEASE-1
    planOf: "CAST(CAST(jobs.payload AS json) ->> 'plan' AS bigint)",
    all: async (sql, ...values) => (await query(sql, values)).rows,
    get: async (sql, ...values) => (await query(sql, values)).rows[0],
    run: async (sql, ...values) => (await query(sql, values)).rowCount,
  };
  return {
    ...statements,
    async transaction(work, triesLeft = 3) {
      await client.query("BEGIN");
      try {
        const { now } = (await client.query(SERVER_NOW)).rows[0]; // VALUE-1: the server's clock
        const result = await work({ ...statements, now, isPostgres: true });
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK");
        // PLANE-7: broken off because of another transaction; what `work` does in its own memory it does again
        if (BROKEN_OFF.includes(error.code) && triesLeft > 0) return this.transaction(work, triesLeft - 1);
        throw error;
      }
    },
    close: () => client.end(),
  };
}

/** PLANE-7: rows are locked in the order of their keys before the first of them is written. SQLite has one lock. */
export async function lockFiles(tx, ids) {
  if (!tx.isPostgres || ids.length === 0) return;
  await tx.all("SELECT id FROM library_files WHERE id = ANY(?::bigint[]) ORDER BY id FOR UPDATE", ids.map(String));
}
