// The face of `database.js` on an SQLite file.
import Sqlite from "better-sqlite3";

export async function open(url) {
  const file = decodeURIComponent(url.slice("sqlite:///".length));
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
