// Entries of the trash: put back (TRASH-5), or removed for good (TRASH-4, TRASH-9).
import fs, { constants } from "node:fs";
import { isEqual } from "./content.js";
import { lockFiles } from "./database.js";
import { JobFailed } from "./lease.js";
import { done, intend, newId, Refused } from "./log.js";
import { inFolderOf, isAt, look, lookAt, lookAtOpen, namesOf, openFile, signed, TRASH, within } from "./paths.js";
import { diskFailure, HeldFile, refusalOf, GOES, STAYS } from "./roots.js";
import { makeParent, TrashPlace } from "./trash.js";

const ANOTHER = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** TRASH-5 */
export async function restore(owned, roots, entry, what) {
  Object.assign(what, { id: what.id ?? newId(), action: "restore" });
  const { root } = await roots.of(entry.library_id);
  const names = namesOf(entry.relative_path);
  if (!names) throw new Refused("PATH_ESCAPES", `The file had a path that may not be used: ${entry.relative_path}`);
  await inTrash(root, entry, what, async (place) => {
    if (what.isBegun) place.settleSecondNames(lookAt(root, names));
    if (what.isBegun && !place.isThere && isAt(root, names)) { // DELETE-11: only the outcome was not written
      place.removeSidecar();
      return leave(owned, entry, what, "restore", root);
    }
    if (!place.isThere) throw new Refused("FILE_MISSING", `Nothing is in the trash any more: ${entry.trash_path}`);
    await intend(owned, what);
    const folder = makeParent(root, names);
    try {
      if (!place.giveBack(folder, names.at(-1))) {
        throw new Refused("TARGET_EXISTS", `Another file has the name by now: ${entry.relative_path}`);
      }
    } finally {
      fs.closeSync(folder);
    }
    place.removeSidecar();
    return leave(owned, entry, what, "restore", root);
  });
}

/** TRASH-4 */
export async function purge(owned, roots, entry, what) {
  Object.assign(what, { id: what.id ?? newId(), action: "purge" });
  const { root } = await roots.of(entry.library_id);
  await inTrash(root, entry, what, async (place) => {
    if (!place.isThere) { // what is gone needs no copy
      await intend(owned, what);
      place.removeSidecar();
      return leave(owned, entry, what, "purge", root);
    }
    if (entry.is_discarded) { // TRASH-4: its keeper deleted it, so no copy has to stay
      await intend(owned, what);
      place.remove();
      place.removeSidecar();
      return leave(owned, entry, what, "purge", root);
    }
    const trashed = openFile(place.folder, place.name);
    let copy;
    try {
      copy = await findCopy(owned, roots, entry, trashed);
      if (!copy) throw new Refused("LAST_COPY", `No other copy of ${entry.relative_path} was found.`);
      Object.assign(what, { keptLibraryId: copy.libraryId, keptPath: copy.path });
      await intend(owned, what);
      place.remove();
      try {
        copy.seeAgain();
      } catch (error) {
        await writeAgain(place, trashed); // it was the last one after all
        throw error;
      }
      place.removeSidecar();
    } finally {
      copy?.close();
      fs.closeSync(trashed);
    }
    return leave(owned, entry, what, "purge", root);
  });
}

async function inTrash(root, entry, what, work) {
  let place;
  try {
    place = new TrashPlace(root, entry.trash_path);
  } catch (error) {
    if (error.code === "ENOENT") { // TRASH-9: an empty mount point says nothing about what lies in the trash
      const Trouble = what.isBegun ? JobFailed : Refused; // DELETE-11: what was begun waits for its disk
      throw new Trouble("ROOT_UNAVAILABLE", `There is no folder for ${entry.trash_path}. Check that the disk is there.`);
    }
    throw error.syscall ? refusalOf(error, { ...GOES, what: "The trash" }, entry.trash_path) : error;
  }
  try {
    return await work(place);
  } catch (error) {
    throw error.syscall ? diskFailure(error) : error;
  } finally {
    place.close();
  }
}

/** What stays when the entry goes, held open: its successor, or a copy, compared to the last byte. */
async function findCopy(owned, roots, entry, trashed) {
  if (entry.successor_path) { // another file took its place, so it need not be the same
    try {
      const { root } = await roots.of(entry.library_id);
      return Object.assign(new HeldFile(root, entry.successor_path, STAYS), { libraryId: entry.library_id });
    } catch (error) {
      if (!(error instanceof Refused)) throw error; // perhaps there is a copy
    }
  }
  const stat = lookAtOpen(trashed);
  const rows = await owned.database.all(
    `SELECT * FROM library_files WHERE hash_algorithm = ? AND content_hash = ? AND is_missing = 0 AND needs_hash = 0
     ORDER BY id`, entry.hash_algorithm, entry.content_hash);
  for (const row of rows) {
    if (row.relative_path.split("/").includes(TRASH)) continue; // TRASH-2
    let copy;
    try {
      const { root } = await roots.of(row.library_id);
      copy = new HeldFile(root, row.relative_path, STAYS);
      copy.expect(row.size_bytes, row.mtime_ns);
      if (copy.stat.size === stat.size && await isEqual(owned, copy.descriptor, trashed)) {
        return Object.assign(copy, { libraryId: row.library_id });
      }
      copy.close();
    } catch (error) {
      copy?.close();
      if (!(error instanceof Refused)) throw error; // this one is none; perhaps the next
    }
  }
  return undefined;
}

/** The file has no name any more, but it is open: its content goes back to where it was. */
async function writeAgain(place, trashed) {
  const target = fs.openSync(within(place.folder, place.name), ANOTHER, 0o600);
  try {
    const piece = Buffer.alloc(1 << 20);
    for (let at = 0, count; (count = fs.readSync(trashed, piece, 0, piece.length, at)) > 0; at += count) {
      fs.writeSync(target, piece, 0, count);
    }
    const { atime, mtime, mode } = fs.fstatSync(trashed);
    fs.fchmodSync(target, mode & 0o7777);
    fs.futimesSync(target, atime, mtime);
    fs.fsyncSync(target);
  } finally {
    fs.closeSync(target);
  }
  fs.fsyncSync(place.folder);
}

/** TRASH-4, TRASH-5: the entry left the trash, and what follows from it. */
export async function leave(owned, entry, what, action, root) {
  const stat = action === "restore" ? inFolderOf(root, namesOf(entry.relative_path), look) : null;
  await done(owned, what, async (tx) => {
    await tx.run("UPDATE trash_entries SET left_as = ?, left_at = ? WHERE id = ?",
      action === "restore" ? "restored" : "purged", tx.now, entry.id);
    if (stat) await comeBack(tx, entry, stat);
  });
}

async function comeBack(tx, entry, stat) {
  const alike = await tx.all(
    `SELECT id FROM library_files WHERE size_bytes = ? AND needs_hash = 0 AND content_hash IS NULL AND is_missing = 0
     ORDER BY id`, entry.size_bytes);
  await lockFiles(tx, [entry.file_id, ...alike.map((row) => row.id)]);
  const isKnown = await tx.run(
    `UPDATE library_files SET is_missing = 0, updated_at = ? WHERE id = ? AND library_id = ? AND relative_path = ?
       AND size_bytes = ? AND mtime_ns = ?
       AND (content_hash IS NULL OR hash_algorithm = ? AND content_hash = ?)`,
    tx.now, entry.file_id, entry.library_id, entry.relative_path, stat.size, stat.mtimeNs, entry.hash_algorithm,
    entry.content_hash);
  if (!isKnown) {
    await tx.run(
      `INSERT INTO library_files
         (library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (library_id, relative_path) DO NOTHING`,
      entry.library_id, entry.relative_path, stat.size, stat.mtimeNs, signed(stat.ino), signed(stat.dev), tx.now,
      tx.now);
  }
  for (const { id } of alike) {
    await tx.run("UPDATE library_files SET needs_hash = 1, updated_at = ? WHERE id = ?", tx.now, id);
  }
}
