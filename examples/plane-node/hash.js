// A `hash` job: files of a library that wait for it are read, as few of them to their end as possible.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { promisify } from "node:util";
import { createBLAKE3 } from "hash-wasm";
import { lockFiles } from "./database.js";
import { JobFailed } from "./lease.js";
import { agrees, bytesOf, inFolderOf, isSame, lookAtOpen, namesOf, openFile, openRoot, reasonOf } from "./paths.js";

const read = promisify(fs.read);
const SMALL = 32768n; // HASH-3
const EDGE = 4096; // HASH-4
const WORK = 60_000; // milliseconds that a job works, HASH-9
const BATCH = 100; // files in one transaction
const PIECE = Buffer.alloc(1 << 20);

const DUE = `library_id = ? AND needs_hash = 1 AND is_missing = 0
  AND (hash_retry_after IS NULL OR hash_retry_after <= ?)`;
const RESET = "hash_error_count = 0, hash_last_error = NULL, hash_last_error_at = NULL, hash_retry_after = NULL";
// HASH-7: a row is written only while it says of the file what was read
const STILL = "id = ? AND size_bytes = ? AND mtime_ns = ? AND is_missing = 0";
// HASH-5. The last line says nothing new: with it SQLite can use ix_library_files_twins.
const TWIN = `SELECT 1 FROM library_files AS twin WHERE twin.id <> library_files.id AND twin.is_missing = 0
  AND twin.size_bytes = library_files.size_bytes
  AND (twin.edge_hash = library_files.edge_hash OR twin.edge_hash IS NULL AND twin.content_hash IS NOT NULL)
  AND (twin.edge_hash IS NOT NULL OR twin.content_hash IS NOT NULL)`;

/** HASH-8: why one file could not be read. */
class Unreadable extends Error {
  constructor(code, reason) {
    super(reason);
    this.code = code;
  }
}
/** HASH-9: the time of the job is over. */
class TimeIsUp extends Error {}

/** HASH-11: the one file that the last job did not come to the end of. */
let halfRead = null;

export async function hash(owned) {
  const { database, libraryId } = owned;
  const library = await database.get("SELECT * FROM library_roots WHERE id = ?", libraryId);
  if (!library) throw new JobFailed("ROOT_UNAVAILABLE", "The library is gone; there is nothing to hash."); // JOB-2
  let root;
  try {
    root = openRoot(library.root_path);
  } catch (error) {
    throw new JobFailed("ROOT_UNAVAILABLE",
      `The folder ${library.root_path} cannot be read: ${reasonOf(error)}. Check that its disk is there.`);
  }
  try {
    await new Reading(owned, library, root).all();
  } catch (error) {
    if (!(error instanceof TimeIsUp)) throw error;
  } finally {
    fs.closeSync(root);
  }
}

class Reading {
  #results = []; // what was read and is not written yet
  #settled = 0;

  constructor(owned, library, root) {
    Object.assign(this, { owned, library, root, until: Date.now() + WORK });
    this.rootStat = lookAtOpen(root);
  }

  async all() {
    const { database } = this.owned;
    const now = BigInt(Date.now()) * 1000n;
    const count = `SELECT count(*) AS due FROM library_files WHERE ${DUE}`;
    this.due = Number((await database.get(count, this.library.id, now)).due);
    try {
      // Twins that are found wake files that were settled before, so it is done until nothing is due.
      for (let before = -1; before !== this.#settled;) {
        before = this.#settled;
        await this.#each("edge_hash IS NULL", (file) => this.#first(file));
        // HASH-5 does not except `all`, but there every file is wanted (CAND-1), also one that was sampled before.
        if (this.library.hash_policy !== "all") await this.#settleWithoutTwin();
        await this.#each("edge_hash IS NOT NULL", (file) => this.#whole(file));
      }
    } finally {
      this.owned.goOn();
      await this.#write();
    }
  }

  /** Every due file once, in the order of the ids. */
  async #each(condition, work) {
    for (let after = 0n; ;) {
      const now = BigInt(Date.now()) * 1000n;
      const files = await this.owned.database.all(
        `SELECT id, relative_path, size_bytes, mtime_ns, inode, device, hash_error_count, edge_hash FROM library_files
         WHERE ${DUE} AND ${condition} AND id > ? ORDER BY id LIMIT ${BATCH}`, this.library.id, now, after);
      for (const file of files) {
        this.owned.goOn();
        if (Date.now() >= this.until) throw new TimeIsUp();
        try {
          this.#results.push(await work(file));
        } catch (error) {
          if (!(error instanceof Unreadable)) throw error;
          this.#results.push({ file, error });
        }
      }
      await this.#write();
      if (files.length < BATCH) return;
      after = files.at(-1).id;
    }
  }

  /** HASH-3 */
  #first(file) {
    return file.size_bytes <= SMALL || this.library.hash_policy === "all" ? this.#whole(file) : this.#sample(file);
  }

  /** HASH-4 */
  async #sample(file) {
    return this.#opened(file, async (descriptor) => {
      const edges = Buffer.alloc(2 * EDGE);
      const first = await read(descriptor, edges, 0, EDGE, 0);
      const last = await read(descriptor, edges, EDGE, EDGE, file.size_bytes - BigInt(EDGE));
      if (first.bytesRead + last.bytesRead !== edges.length) throw new Unreadable("FILE_CHANGED", "it is shorter now");
      const blake3 = await createBLAKE3();
      return { file, edge: Buffer.from(blake3.init().update(edges).digest("binary")) };
    });
  }

  async #whole(file) {
    return this.#opened(file, async (descriptor) => {
      const { algorithm } = this.library;
      const key = `${file.id} ${file.size_bytes} ${file.mtime_ns} ${file.inode} ${file.device} ${algorithm}`;
      const reading = halfRead?.key === key ? halfRead
        : { key, offset: 0, hasher: algorithm === "blake3" ? (await createBLAKE3()).init() : createHash("sha256") };
      halfRead = null;
      for (;;) {
        this.owned.goOn();
        if (Date.now() >= this.until) {
          halfRead = reading;
          throw new TimeIsUp();
        }
        const { bytesRead } = await read(descriptor, PIECE, 0, PIECE.length, reading.offset);
        if (bytesRead === 0) break;
        reading.hasher.update(PIECE.subarray(0, bytesRead));
        reading.offset += bytesRead;
      }
      if (BigInt(reading.offset) !== file.size_bytes) throw new Unreadable("FILE_CHANGED", "its size is another now");
      const digest = algorithm === "blake3" ? Buffer.from(reading.hasher.digest("binary")) : reading.hasher.digest();
      return { file, content: digest, algorithm };
    });
  }

  /** HASH-6: opens a file, reads of it, and sees that it is the file of the row, before and after. */
  async #opened(file, reader) {
    const names = namesOf(file.relative_path);
    if (!names) throw new Unreadable("PATH_ESCAPES", "the path may not be used");
    let descriptor;
    try {
      descriptor = inFolderOf(this.root, names, openFile);
    } catch (error) {
      throw new Unreadable("FILE_UNREADABLE", reasonOf(error)); // a link on the way, too: it was not followed
    }
    try {
      this.#check(file, lookAtOpen(descriptor));
      const result = await reader(descriptor);
      this.#check(file, lookAtOpen(descriptor));
      return result;
    } catch (error) {
      if (error.syscall) throw new Unreadable("FILE_UNREADABLE", reasonOf(error));
      throw error;
    } finally {
      fs.closeSync(descriptor);
    }
  }

  #check(file, stat) {
    if (!stat.isFile()) throw new Unreadable("FILE_UNREADABLE", "it is no ordinary file"); // PATH-5
    const isTheFile = stat.size === file.size_bytes && stat.mtimeNs === file.mtime_ns
      && agrees(file.inode, stat.ino) && agrees(file.device, stat.dev);
    if (!isTheFile) throw new Unreadable("FILE_CHANGED", "it is not as the last scan saw it");
  }

  /** HASH-5: what has a sample and no twin is settled, and nothing else is written. */
  async #settleWithoutTwin() {
    for (let after = 0n; ;) {
      const now = BigInt(Date.now()) * 1000n;
      const files = await this.owned.database.all(
        `SELECT id FROM library_files WHERE ${DUE} AND edge_hash IS NOT NULL AND id > ? ORDER BY id LIMIT ${BATCH}`,
        this.library.id, now, after);
      if (files.length === 0) return;
      let settled = 0;
      await this.owned.transaction(async (tx) => {
        settled = 0;
        await lockFiles(tx, files.map((file) => file.id));
        for (const { id } of files) {
          settled += Number(await tx.run(
            `UPDATE library_files SET needs_hash = 0, updated_at = ?
             WHERE id = ? AND needs_hash = 1 AND is_missing = 0 AND edge_hash IS NOT NULL AND NOT EXISTS (${TWIN})`,
            tx.now, id));
        }
      });
      this.#report(settled);
      after = files.at(-1).id;
    }
  }

  /** HASH-4, HASH-7, HASH-8: what came of the files that were read. */
  async #write() {
    const results = this.#results;
    this.#results = [];
    if (results.length === 0) return;
    if (results.some(({ error }) => error)) this.#seeThatTheRootIsThere();
    let settled = 0;
    await this.owned.transaction(async (tx) => {
      settled = 0; // PLANE-7: a transaction that was broken off begins again
      const woken = await this.#woken(tx, results);
      const ids = [...results.map(({ file }) => file.id), ...woken];
      await lockFiles(tx, ids);
      for (const result of results) {
        const { file, edge, content, algorithm, error } = result;
        const still = [file.id, file.size_bytes, file.mtime_ns];
        if (edge) {
          await tx.run(
            `UPDATE library_files SET edge_hash = ?, ${RESET}, updated_at = ? WHERE ${STILL}`, edge, tx.now, ...still);
        } else if (content) {
          settled += Number(await tx.run(
            `UPDATE library_files SET content_hash = ?, hash_algorithm = ?, hashed_size_bytes = ?, hashed_mtime_ns = ?,
               hashed_at = ?, needs_hash = 0, ${RESET}, updated_at = ?
             WHERE ${STILL} AND EXISTS (SELECT 1 FROM library_roots WHERE id = library_id AND algorithm = ?)`,
            content, algorithm, file.size_bytes, file.mtime_ns, tx.now, tx.now, ...still, algorithm));
        } else {
          const failures = file.hash_error_count;
          const wait = 60_000_000n << (failures < 10n ? failures : 10n);
          settled += Number(await tx.run(
            `UPDATE library_files SET hash_last_error = ?, hash_last_error_at = ?, hash_retry_after = ?,
               hash_error_count = ?, updated_at = ? WHERE ${STILL}`,
            `${error.code}: ${error.message}`, tx.now, tx.now + wait,
            error.code === "FILE_CHANGED" ? failures : failures + 1n, tx.now, ...still));
        }
      }
      for (const id of woken) {
        await tx.run(
          `UPDATE library_files SET needs_hash = 1, updated_at = ?
           WHERE id = ? AND needs_hash = 0 AND content_hash IS NULL`, tx.now, id);
      }
    });
    this.#report(settled);
  }

  /** HASH-3, HASH-5: files that were settled when what was read now could not be compared with them. */
  async #woken(tx, results) {
    const woken = new Set();
    const settled = `SELECT id FROM library_files WHERE size_bytes = ? AND is_missing = 0 AND edge_hash IS NOT NULL
      AND needs_hash = 0 AND content_hash IS NULL AND id <> ?`;
    for (const { file, content } of results) {
      if (!content || file.size_bytes <= SMALL) continue;
      const rows = file.edge_hash
        ? await tx.all(`${settled} AND edge_hash = ?`, file.size_bytes, file.id, file.edge_hash)
        : await tx.all(settled, file.size_bytes, file.id);
      for (const { id } of rows) woken.add(id);
    }
    return [...woken].sort((one, other) => (one < other ? -1 : 1));
  }

  /** HASH-10: the disk is gone, and not the files. */
  #seeThatTheRootIsThere() {
    let now;
    try {
      now = fs.statSync(bytesOf(this.library.root_path), { bigint: true });
    } catch {
      now = undefined;
    }
    if (!now || !isSame(now, this.rootStat)) {
      throw new JobFailed("ROOT_UNAVAILABLE",
        `The folder ${this.library.root_path} is not the one that it was. Check that its disk is there.`);
    }
  }

  #report(settled) {
    this.#settled += settled;
    this.owned.report(this.#settled, Math.max(this.due, this.#settled));
  }
}
