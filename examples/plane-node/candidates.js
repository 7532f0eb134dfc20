// Which files are worth hashing: those that share their size with another (CAND-1, CAND-2).
import { CLEARED, lockFiles } from "./database.js";

const BATCH = 500; // rows in one transaction

/** CAND-2: whether the candidates are still right. */
export async function isUnchanged(owned, session, library) {
  const now = await owned.database.get("SELECT * FROM scan_sessions WHERE id = ?", session.id);
  const before = await owned.database.get(
    "SELECT status FROM scan_sessions WHERE id < ? ORDER BY id DESC LIMIT 1", session.id);
  const last = await owned.database.get(
    "SELECT started_at FROM scan_sessions WHERE library_id = ? AND status = 'succeeded' ORDER BY id DESC LIMIT 1",
    library.id);
  if (now.added_count || now.changed_count || now.moved_count || now.removed_count
    || before?.status !== "succeeded" || last === undefined || library.updated_at >= last.started_at) return false;
  return await owned.database.get(
    "SELECT 1 FROM placements WHERE library_id = ? AND status = 'completed' AND finished_at >= ? LIMIT 1",
    library.id, last.started_at) === undefined;
}

/** CAND-1: found with one query each, and written in small transactions. */
export async function chooseCandidates(owned) {
  const wanted = `size_bytes > 0 AND (
      size_bytes IN (SELECT size_bytes FROM library_files WHERE is_missing = 0 GROUP BY size_bytes HAVING count(*) > 1)
      OR library_id IN (SELECT id FROM library_roots WHERE hash_policy = 'all'))`;
  // A file that is missing keeps its hash in case it returns, so only the others are looked at.
  const waits = "is_missing = 0 AND needs_hash = 0 AND content_hash IS NULL";
  const waitsInVain = "is_missing = 0 AND (needs_hash = 1 OR content_hash IS NOT NULL)";
  await update(waits, wanted, "needs_hash = 1");
  await update(waitsInVain, `NOT (${wanted})`, `needs_hash = 0, ${CLEARED}`);

  async function update(state, condition, change) {
    const rows = await owned.database.all(`SELECT id FROM library_files WHERE ${state} AND ${condition} ORDER BY id`);
    for (let at = 0; at < rows.length; at += BATCH) {
      await owned.transaction(async (tx) => {
        const batch = rows.slice(at, at + BATCH).map((row) => row.id);
        await lockFiles(tx, batch);
        for (const id of batch) {
          await tx.run(`UPDATE library_files SET ${change}, updated_at = ? WHERE id = ? AND ${state}`, tx.now, id);
        }
      });
    }
  }
}
