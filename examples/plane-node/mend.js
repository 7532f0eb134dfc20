// What a plane left that died in the middle of a removal (DELETE-11, DELETE-12, TRASH-8). Ours mends what others left,
// and others mend what ours left.
import fs from "node:fs";
import { leave } from "./entries.js";
import { JobFailed } from "./lease.js";
import { noteTrashed, Refused } from "./log.js";
import { exists, isAt, lookAt, lookFor, namesOf, openParent } from "./paths.js";
import { TrashPlace } from "./trash.js";

/**
 * DELETE-11 for a row `intent` of the action `trash`: the file goes back to its free name. Says what became of it:
 * "as before", or "stays in the trash" when another file has the name.
 */
export async function putBack(roots, row) {
  const names = namesOf(row.relative_path);
  const { root } = await roots.of(row.library_id).catch((error) => {
    throw error instanceof Refused ? new JobFailed(error.code, error.message) : error;
  });
  const place = placeOf(root, row.trash_path);
  try {
    const folder = names && parentOf(root, names);
    try {
      const isAtItsName = folder !== null && exists(folder, names.at(-1));
      if (place === null && !isAtItsName) {
        throw new JobFailed("ROOT_UNAVAILABLE",
          `Neither ${row.relative_path} nor its trash can be found. Check that the disk is there.`);
      }
      place?.settleSecondNames(folder && lookFor(folder, names.at(-1)));
      const isBack = !place?.isThere || folder !== null && place.giveBack(folder, names.at(-1));
      if (isBack) place?.removeSidecar();
      return isBack ? "as before" : "stays in the trash";
    } finally {
      if (folder) fs.closeSync(folder);
    }
  } finally {
    place?.close();
  }
}

/**
 * DELETE-12: rows of jobs that are over. A row whose disk is not there waits for it, and other removals need not. So
 * does one of an action that this plane does not know (VER-5).
 */
export async function mendAbandoned(owned, roots) {
  const { database, job } = owned;
  const others = "SELECT 1 AS one FROM jobs WHERE kind = 'delete' AND status = 'running' AND id <> ?";
  if (await database.get(others, job.id)) return;
  const rows = await database.all(
    `SELECT deletion_log.* FROM deletion_log LEFT JOIN jobs ON jobs.id = deletion_log.job_id
     WHERE state = 'intent' AND action IN ('trash', 'restore', 'purge')
       AND (jobs.id IS NULL OR jobs.status IN ('completed', 'failed', 'cancelled'))
     ORDER BY deletion_log.created_at, deletion_log.id`);
  for (const row of rows) {
    owned.goOn();
    try {
      await mend(owned, roots, row);
    } catch (error) {
      const isAway = error instanceof Refused || error instanceof JobFailed && error.code === "ROOT_UNAVAILABLE";
      if (!isAway) throw error;
    }
  }
}

async function mend(owned, roots, row) {
  if (row.action === "trash") {
    const became = await putBack(roots, row);
    if (became === "as before") await giveUp(owned, row);
    else await finishStep(owned, roots, row);
    return;
  }
  const entry = await owned.database.get(
    "SELECT * FROM trash_entries WHERE trash_path = ? AND library_id = ? AND left_at IS NULL",
    row.trash_path, row.library_id);
  const { root } = await roots.of(row.library_id);
  const place = placeOf(root, row.trash_path);
  try {
    if (row.action === "restore") place?.settleSecondNames(lookAt(root, namesOf(row.relative_path)));
    // A purge had come to its end when the file is gone; a restore when the file has its name again.
    const isGone = place !== null && !place.isThere;
    if (entry && isGone && (row.action === "purge" || isAt(root, namesOf(row.relative_path)))) {
      place.removeSidecar();
      await leave(owned, entry, row, row.action, root);
    } else await giveUp(owned, row);
  } finally {
    place?.close();
  }
}

async function giveUp(owned, row) {
  await owned.transaction((tx) => tx.run(
    `UPDATE deletion_log SET state = 'refused', error_code = 'WORKER_LOST', finished_at = ?,
       error_message = 'The worker was lost in the middle of it, and everything was put back; order it again.'
     WHERE id = ? AND state = 'intent'`, tx.now, row.id));
}

/** Another file has the name by now, so this one stays in the trash, and has to be listed there. */
async function finishStep(owned, roots, row) {
  const step = row.plan_id === null ? await readDiscarded(roots, row) : await owned.database.get(
    "SELECT * FROM deletion_steps WHERE plan_id = ? AND position = ?", row.plan_id, row.position);
  if (step) await noteTrashed(owned, step, { id: row.id, trashPath: row.trash_path });
}

/** DELETE-11: of a file that its keeper deleted no table knows more than the row; the rest is in its sidecar. */
async function readDiscarded(roots, row) {
  const { root } = await roots.of(row.library_id);
  const place = placeOf(root, row.trash_path);
  try {
    const facts = place?.readSidecar();
    return facts && {
      file_id: 0n, library_id: row.library_id, relative_path: row.relative_path, size_bytes: place.size,
      hash_algorithm: facts.hash_algorithm, content_hash: Buffer.from(facts.content_hash, "hex"), is_discarded: 1n,
    };
  } finally {
    place?.close();
  }
}

function placeOf(root, trashPath) {
  try {
    return new TrashPlace(root, trashPath);
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

function parentOf(root, names) {
  try {
    return openParent(root, names);
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}
