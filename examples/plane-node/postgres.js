// The face of `database.js` on PostgreSQL.
import pg from "pg";
import { ConnectionLost } from "./database.js";

const SERVER_NOW = "SELECT (extract(epoch FROM transaction_timestamp()) * 1000000)::bigint AS now";
const BROKEN_OFF = ["40P01", "40001"]; // deadlock, serialization
const ENDED = /^(08|57P0)/; // the server, or the way to it, is gone
const AGAIN_FOR = 30_000; // milliseconds for which a lost connection is tried again
const TRIES = 3;

pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
pg.types.setTypeParser(pg.types.builtins.INT4, BigInt);

export async function open(url) {
  const session = new Session(url);
  await session.client(); // a wrong URL is told at once
  return session;
}

class Session {
  #client = null;
  forUpdate = "FOR UPDATE SKIP LOCKED"; // LEASE-1
  planOf = "CAST(CAST(jobs.payload AS json) ->> 'plan' AS bigint)";

  constructor(url) {
    this.url = url;
  }

  /** The connection, made again when it was lost. */
  async client() {
    for (const until = Date.now() + AGAIN_FOR; this.#client === null;) {
      const client = new pg.Client({ connectionString: this.url });
      client.on("error", () => this.#forget(client)); // it may also be lost while nothing is asked
      client.on("end", () => this.#forget(client));
      try {
        await client.connect();
        await client.query("SET ROLE kurabito_dataplane"); // PLANE-7
        this.#client = client;
      } catch (error) {
        if (Date.now() > until || error.code?.startsWith("28")) throw error; // a refusal stays one
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
    return this.#client;
  }

  all = async (sql, ...values) => (await this.#read(sql, values)).rows;
  get = async (sql, ...values) => (await this.#read(sql, values)).rows[0];

  /** What is broken off, or lost before its commit, never was: `work` does it again from the beginning. */
  async transaction(work, triesLeft = TRIES) {
    // All of it on one connection: what is lost in the middle must not go on outside of the transaction on a new one.
    const client = await this.client();
    const ask = (sql, values = []) => this.#ask(client, sql, values);
    let isCommitting = false;
    try {
      await ask("BEGIN");
      const { now } = (await ask(SERVER_NOW)).rows[0]; // VALUE-1: the server's clock
      const result = await work({
        now,
        isPostgres: true,
        forUpdate: this.forUpdate,
        planOf: this.planOf,
        all: async (sql, ...values) => (await ask(sql, values)).rows,
        get: async (sql, ...values) => (await ask(sql, values)).rows[0],
        run: async (sql, ...values) => (await ask(sql, values)).rowCount,
      });
      isCommitting = true;
      await ask("COMMIT");
      return result;
    } catch (error) {
      const isLost = error instanceof ConnectionLost;
      if (!isLost) await ask("ROLLBACK");
      const isUndone = BROKEN_OFF.includes(error.code) || isLost && !isCommitting;
      if (isUndone && triesLeft > 0) return this.transaction(work, triesLeft - 1);
      throw error;
    }
  }

  async close() {
    await this.#client?.end();
  }

  /** A read outside of a transaction can always be asked again. */
  async #read(sql, values) {
    try {
      return await this.#ask(await this.client(), sql, values);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      return this.#ask(await this.client(), sql, values);
    }
  }

  async #ask(client, sql, values) {
    let count = 0;
    try {
      return await client.query(sql.replaceAll("?", () => `$${++count}`), values);
    } catch (error) {
      if (error instanceof pg.DatabaseError && !ENDED.test(error.code)) throw error;
      this.#forget(client);
      throw new ConnectionLost(error.message);
    }
  }

  #forget(client) {
    if (this.#client === client) this.#client = null;
  }
}
