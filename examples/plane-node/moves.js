// Files that only moved keep their row, and their hash when it is certain that they are the same (MOVE-1 to MOVE-5).
import { CLEARED, lockFiles } from "./database.js";
import { equals, inFolderOf, look, namesOf } from "./paths.js";

const NEAR = 60_000_000n; // microseconds: clocks of disks and programs differ by less

/** Moved files: when the file at `path` was made, against the moment at which the known one was there for certain. */
export function birthOf(root, path, known) {
  let stat;
  try {
    stat = inFolderOf(root, namesOf(path), look);
  } catch {
    return "gone";
  }
  if (!equals(known.inode, stat.ino)) return "gone";
  if (stat.birthtimeNs === 0n) return "unknown"; // what Node says when statx() does not
  const later = stat.birthtimeNs / 1000n - (known.hashed_at ?? known.created_at);
  return later < -NEAR ? "before" : later > NEAR ? "after" : "near";
}

/** MOVE-1 to MOVE-4 */
export async function move(owned, session, root) {
  const found = (finding) => owned.database.all(
    `SELECT library_files.* FROM scan_findings JOIN library_files ON library_files.id = file_id
     WHERE session_id = ? AND finding = ? ORDER BY file_id`, session.id, finding);
  const added = new Map(); // those of one size and mtime, in the order of their ids
  for (const row of await found("added")) {
    const key = `${row.size_bytes} ${row.mtime_ns}`;
    added.set(key, [...added.get(key) ?? [], row]);
  }
  for (const old of await found("unseen")) {
    const alike = added.get(`${old.size_bytes} ${old.mtime_ns}`) ?? [];
    const at = alike.findIndex((row) => equals(old.inode, row.inode) && equals(old.device, row.device));
    if (at < 0) continue;
    const [fresh] = alike.splice(at, 1);
    const birth = birthOf(root, fresh.relative_path, old);
    if (birth === "after") continue; // MOVE-2
    await owned.transaction(async (tx) => {
      await lockFiles(tx, [old.id, fresh.id]);
      await tx.run("DELETE FROM library_files WHERE id = ?", fresh.id);
      const cleared = birth === "before" ? "" : `, needs_hash = 0, ${CLEARED}`; // MOVE-3
      await tx.run(
        `UPDATE library_files SET relative_path = ?, updated_at = ?${cleared} WHERE id = ?`,
        fresh.relative_path, tx.now, old.id);
      await tx.run(
        "DELETE FROM scan_findings WHERE session_id = ? AND file_id IN (?, ?)", session.id, old.id, fresh.id);
      await tx.run(
        "UPDATE scan_sessions SET added_count = added_count - 1, moved_count = moved_count + 1 WHERE id = ?",
        session.id);
    });
  }
}
