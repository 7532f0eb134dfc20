// One step of a plan: a file goes to the trash because another with the same content stays.
import fs from "node:fs";
import { isEqual, digestOf } from "./content.js";
import { CLEARED, lockFiles } from "./database.js";
import { JobFailed } from "./lease.js";
import { intend, newId, noteChecked, noteTrashed, refuse, Refused } from "./log.js";
import { putBack } from "./mend.js";
import { exists, isSame, look, lookAtOpen, openParent, reasonOf, textOf, TRASH } from "./paths.js";
import { diskFailure, GOES, HeldFile, STAYS } from "./roots.js";
import { holderOf, TrashPlace, trashPathOf } from "./trash.js";

export async function takeStep(owned, roots, step, row) {
  const what = {
    id: row?.id ?? newId(), isBegun: row !== undefined, planId: step.plan_id, position: step.position, action: "trash",
    libraryId: step.library_id, path: step.relative_path, keptLibraryId: step.kept_library_id, keptPath: step.kept_path,
    trashPath: row?.trash_path,
  };
  // DELETE-11: what an owner before began is put as it was, and the step is taken again.
  if (row && await putBack(roots, row) === "stays in the trash") return noteTrashed(owned, step, what);
  const held = [];
  try {
    await compareWithRows(owned, step);
    const pair = await open(roots, step, held);
    await compareContent(owned, step, pair);
    if (owned.job.isDry) return await noteChecked(owned, what);
    const { root, names, folder } = pair.goes;
    what.trashPath ??= trashPathOf(holderOf(root, names, lookAtOpen(folder).dev), what.id);
    await intend(owned, what);
    move(step, what, pair);
    return await noteTrashed(owned, step, what);
  } catch (error) {
    const refusal = error.syscall ? diskFailure(error) : error;
    if (!(refusal instanceof Refused)) throw error;
    return await refuse(owned, what, refusal);
  } finally {
    for (const file of held) file.close();
  }
}

/** DELETE-3: what the database knows is still what was decided. */
async function compareWithRows(owned, step) {
  const { database } = owned;
  const removesKept = await database.get(
    "SELECT 1 AS one FROM deletion_steps WHERE plan_id = ? AND file_id = ?", step.plan_id, step.kept_file_id);
  if (removesKept) throw new Refused("KEPT_IN_DOUBT", "The plan also removes the copy that was to stay.");
  const sides = [
    [GOES, step.file_id, step.library_id, step.relative_path, step.mtime_ns],
    [STAYS, step.kept_file_id, step.kept_library_id, step.kept_path, step.kept_mtime_ns],
  ];
  for (const [role, id, libraryId, path, mtime] of sides) {
    const row = await database.get("SELECT * FROM library_files WHERE id = ?", id);
    const isAsDecided = row && !row.is_missing && !row.needs_hash && row.library_id === libraryId
      && row.relative_path === path && row.size_bytes === step.size_bytes && row.mtime_ns === mtime
      && row.hash_algorithm === step.hash_algorithm && row.content_hash?.equals(step.content_hash);
    if (!isAsDecided) throw new Refused(role.changed, `${role.what} is not what was decided about any more: ${path}`);
  }
}

/** DELETE-4: what the disk has is what was decided. */
async function open(roots, step, held) {
  if (step.kept_path.split("/").slice(0, -1).includes(TRASH)) {
    throw new Refused("KEPT_IN_DOUBT", "The copy that was to stay lies in a trash folder."); // TRASH-2
  }
  const [home, keptHome] = [await roots.of(step.library_id), await roots.of(step.kept_library_id)];
  const hold = (root, path, role) => (held.push(new HeldFile(root, path, role)), held.at(-1));
  const goes = hold(home.root, step.relative_path, GOES);
  const stays = hold(keptHome.root, step.kept_path, STAYS);
  if (isSame(goes.stat, stays.stat)) throw new Refused("SAME_FILE", "Both names lead to one file.");
  goes.expect(step.size_bytes, step.mtime_ns);
  stays.expect(step.size_bytes, step.kept_mtime_ns);
  return { goes, stays, home, keptHome };
}

/** DELETE-5 */
async function compareContent(owned, step, { goes, stays }) {
  if (await isEqual(owned, goes.descriptor, stays.descriptor)) return;
  const wrong = [];
  for (const [id, file] of [[step.file_id, goes], [step.kept_file_id, stays]]) {
    const digest = await digestOf(owned, file.descriptor, step.hash_algorithm);
    if (!digest.equals(step.content_hash)) wrong.push(id);
  }
  const ids = wrong.length ? wrong : [step.file_id, step.kept_file_id];
  await owned.transaction(async (tx) => {
    await lockFiles(tx, ids);
    for (const id of ids) {
      await tx.run(`UPDATE library_files SET needs_hash = 1, ${CLEARED}, updated_at = ? WHERE id = ?`, tx.now, id);
    }
  });
  throw new Refused("CONTENT_DIFFERS", "The two files differ although their hashes are equal; they are hashed again.");
}

/** DELETE-8, `trash`. */
function move(step, what, { goes, stays, home, keptHome }) {
  const place = new TrashPlace(goes.root, what.trashPath, { isMade: true });
  try {
    const depth = what.trashPath.split("/").length - 2; // folders above the trash folder
    place.writeSidecar({
      path: goes.names.slice(depth).map(textOf).join("/"),
      size_bytes: step.size_bytes,
      mtime_ns: step.mtime_ns,
      hash_algorithm: step.hash_algorithm,
      content_hash: step.content_hash.toString("hex"),
      trashed_at: BigInt(Date.now()) * 1000n,
      library: home.path,
      reason: step.reason,
      kept_path: `${keptHome.path.replace(/\/$/, "")}/${step.kept_path}`,
      plan_id: step.plan_id,
    });
    if (goes.stat.dev !== stays.stat.dev) seeThatTheyAreTwo(goes, stays, place, depth);
    goes.seeAgain();
    stays.seeAgain();
    place.take(goes.folder, goes.name);
    try {
      const moved = look(place.folder, place.name);
      if (!isSame(moved, goes.stat) || moved.size !== goes.stat.size || moved.mtimeNs !== goes.stat.mtimeNs) {
        throw new Refused("FILE_CHANGED", "What was moved is not the file that was compared.");
      }
      stays.seeAgain(); // under its name, another file, and unchanged
    } catch (error) {
      if (undo(place, goes)) throw error;
      // Another file has the name by now: this one stays in the trash, and is listed there (DELETE-11).
    }
  } catch (error) {
    if (!place.isThere) place.removeSidecar();
    throw error;
  } finally {
    place.close();
  }
}

/** Puts a file back that was moved. Where even that fails, the row stays `intent`: the next delete job tries again. */
function undo(place, goes) {
  try {
    return place.giveBack(goes.folder, goes.name);
  } catch (error) {
    throw new JobFailed("DISK_FAILURE",
      `${goes.path} is in the trash and could not be put back: ${reasonOf(error)}. Check the disk.`);
  }
}

/**
 * DELETE-13: on different devices the two may be one file, seen through a pool and through one of its disks. Then the
 * sidecar of the one is also seen from the other's side, at the same distance from the file.
 */
function seeThatTheyAreTwo(goes, stays, place, depth) {
  const below = goes.names.length - depth; // names from the folder of the trash to the file
  for (let at = 0; at < stays.names.length; at++) {
    const isAlike = stays.names.length - at === below
      && stays.names.slice(at).every((name, index) => name.equals(goes.names[depth + index]));
    if (!isAlike) continue;
    const folder = openParent(stays.root, stays.names.slice(0, at + 1));
    try {
      const trash = openParent(folder, [Buffer.from(TRASH), place.sidecar]);
      try {
        if (exists(trash, place.sidecar)) throw new Refused("SAME_FILE", "Both are one file, seen through two mounts.");
      } finally {
        fs.closeSync(trash);
      }
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    } finally {
      fs.closeSync(folder);
    }
  }
}
