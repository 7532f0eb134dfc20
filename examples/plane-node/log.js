// Rows of `deletion_log`: what is about to be done to a file, written before (DELETE-7), and what became of it.
import { randomBytes } from "node:crypto";
import { lockFiles } from "./database.js";

/** A step that is not taken, with a code of DELETE-3, DELETE-4, … and a sentence for people. The job goes on. */
export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export const newId = () => randomBytes(16).toString("hex"); // TRASH-1: 32 hex digits, also the name in the trash

/** The row of a step, or of an entry of the payload, in this job. */
export const rowOf = (owned, position) => owned.database.get(
  "SELECT * FROM deletion_log WHERE job_id = ? AND position = ?", owned.job.id, position);

/** DELETE-2: whether the row says that there is nothing left to do. */
export const isOver = (row) => row !== undefined && row.state !== "intent";

async function insert(tx, owned, what, state, { code = null, message = null } = {}) {
  await tx.run(
    `INSERT INTO deletion_log (id, job_id, plan_id, position, action, state, library_id, relative_path, kept_library_id,
       kept_path, trash_path, error_code, error_message, created_at, finished_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    what.id, owned.job.id, what.planId ?? null, what.position, what.action, state, what.libraryId, what.path,
    what.keptLibraryId ?? null, what.keptPath ?? null, what.trashPath ?? null, code, message, tx.now,
    state === "intent" ? null : tx.now,
  );
}

/** DELETE-7. `what.isBegun` says that an owner before wrote the intent. */
export async function intend(owned, what) {
  if (what.isBegun) return;
  await owned.transaction(async (tx) => {
    // Two planes must not decide at once that the other's copy stays. SQLite has one writer anyway.
    if (tx.isPostgres) await tx.all("SELECT pg_advisory_xact_lock(1802858081, 40)");
    const inTheWay = await tx.get(
      `SELECT 1 AS one FROM deletion_log WHERE state = 'intent' AND job_id <> ? AND (
         library_id = ? AND relative_path = ? OR library_id = ? AND relative_path = ?
         OR kept_library_id = ? AND kept_path = ?)`,
      owned.job.id, what.libraryId, what.path, what.keptLibraryId ?? null, what.keptPath ?? null,
      what.libraryId, what.path);
    if (inTheWay) {
      throw new Refused("KEPT_IN_DOUBT", "Another job is about to remove or keep one of the two copies; try later.");
    }
    await insert(tx, owned, what, "intent");
  });
  what.isBegun = true;
}

/** DELETE-10: the row `intent` if there is one, else a new one. */
export async function refuse(owned, what, { code, message }) {
  await owned.transaction(async (tx) => {
    const isThere = what.isBegun && await tx.run(
      "UPDATE deletion_log SET state = 'refused', error_code = ?, error_message = ?, finished_at = ? WHERE id = ?",
      code, message, tx.now, what.id);
    if (!isThere) await insert(tx, owned, what, "refused", { code, message });
  });
}

/** DELETE-6: a dry run would have taken this step. */
export async function noteChecked(owned, what) {
  await owned.transaction((tx) => insert(tx, owned, what, "checked"));
}

/** DELETE-9, TRASH-4, TRASH-5: the outcome, and in the same transaction what follows from it. */
export async function done(owned, what, alsoWrite) {
  await owned.transaction(async (tx) => {
    await alsoWrite(tx);
    await tx.run("UPDATE deletion_log SET state = 'done', finished_at = ? WHERE id = ?", tx.now, what.id);
  });
}

/** DELETE-9, `trash`. */
export async function noteTrashed(owned, step, what) {
  await done(owned, what, async (tx) => {
    await lockFiles(tx, [step.file_id]);
    await tx.run(
      `INSERT INTO trash_entries
         (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash, trashed_at,
          is_discarded)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      what.id, step.file_id, step.library_id, step.relative_path, what.trashPath, step.size_bytes, step.hash_algorithm,
      step.content_hash, tx.now, step.is_discarded ?? 0n);
    await tx.run(
      "UPDATE library_files SET is_missing = 1, updated_at = ? WHERE id = ? AND library_id = ? AND relative_path = ?",
      tx.now, step.file_id, step.library_id, step.relative_path);
  });
}
