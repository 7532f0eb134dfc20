// A `scan` job: the folder of a library is compared with the rows of `library_files`.
import fs from "node:fs";
import { chooseCandidates, isUnchanged } from "./candidates.js";
import { CLEARED, lockFiles } from "./database.js";
import { ignoring } from "./ignore.js";
import { Ending, JobFailed, LeaseLost } from "./lease.js";
import { birthOf, move } from "./moves.js";
import { bytesOf, equals, isSame, list, lookAtOpen, openRoot, reasonOf, signed } from "./paths.js";
import { STATE } from "./settings.js";
import { walk } from "./walk.js";

const CHUNK = 1000; // files; a transaction SHOULD end within 20 ms (PLANE-6)
const BATCH = 500; // rows in one transaction of the end

export async function scan(owned) {
  const session = await beginOrGoOn(owned);
  if (session.status === "succeeded") return; // SCAN-1: an earlier owner did everything but say so
  try {
    await scanInto(owned, session);
  } catch (error) {
    if (error instanceof LeaseLost || error instanceof Ending) throw error; // the next owner goes on with the session
    const { code, message } = error instanceof JobFailed ? error : { code: "WORKER_FAILURE", message: error.message };
    // SCAN-9: the owner that ends the job ends the session before
    await owned.transaction((tx) => tx.run(
      "UPDATE scan_sessions SET status = 'failed', error_code = ?, error_message = ?, finished_at = ? WHERE id = ?",
      code, message, tx.now, session.id,
    ));
    throw error;
  }
}

/** SCAN-1 */
function beginOrGoOn(owned) {
  return owned.transaction(async (tx) => {
    const last = await tx.get("SELECT * FROM scan_sessions WHERE job_id = ? ORDER BY id DESC LIMIT 1", owned.job.id);
    if (last?.status === "succeeded") return last;
    if (last?.status === "running") {
      await tx.run(
        `DELETE FROM scan_findings WHERE session_id = ? AND finding = 'unseen' AND file_id IN (
           SELECT id FROM library_files WHERE library_id = ? AND relative_path > ?)`,
        last.id, owned.libraryId, last.resume_after ?? "",
      );
      return last;
    }
    await tx.run(
      `UPDATE scan_sessions SET status = 'failed', error_code = 'SCAN_ABANDONED', finished_at = ?,
         error_message = 'Another scan of the library was begun.' WHERE library_id = ? AND status = 'running'`,
      tx.now, owned.libraryId,
    );
    const before = await tx.get(
      `SELECT total_paths FROM scan_sessions WHERE library_id = ? AND status = 'succeeded' ORDER BY id DESC LIMIT 1`,
      owned.libraryId,
    );
    return tx.get(
      "INSERT INTO scan_sessions (job_id, library_id, started_at, total_paths) VALUES (?, ?, ?, ?) RETURNING *",
      owned.job.id, owned.libraryId, tx.now, before?.total_paths ?? null,
    );
  });
}

async function scanInto(owned, session) {
  const { database, libraryId } = owned;
  const library = await database.get("SELECT * FROM library_roots WHERE id = ?", libraryId);
  if (!library) throw new JobFailed("ROOT_UNAVAILABLE", "The library is gone; there is nothing to scan."); // JOB-2
  const unavailable = (why) => new JobFailed(
    "ROOT_UNAVAILABLE", `The folder ${library.root_path} cannot be read: ${why}. Check that its disk is there.`);
  let root;
  let isEmpty;
  try {
    root = openRoot(library.root_path); // SCAN-2: opened once and kept open
    isEmpty = list(root).length === 0;
  } catch (error) {
    throw unavailable(reasonOf(error));
  }
  try {
    const counts = await compareAll(owned, session, library, root, isEmpty);
    // SCAN-8: is what was walked still what the path leads to?
    const now = fs.statSync(bytesOf(library.root_path), { bigint: true, throwIfNoEntry: false });
    if (!now || !isSame(now, lookAtOpen(root))) throw unavailable("another folder is there now");
    await end(owned, session, library, root, counts);
  } catch (error) {
    if (error.syscall) throw unavailable(reasonOf(error)); // SCAN-5: only an error about the root comes as far as this
    throw error;
  } finally {
    fs.closeSync(root);
  }
}

/** SCAN-3 to SCAN-7. Gives back what was counted. */
async function compareAll(owned, session, library, root, isEmpty) {
  const counts = {
    files: Number(session.files_seen), bytes: session.bytes_seen,
    directories: Number(session.directories_seen), errors: Number(session.error_count),
    named: session.error_message ? session.error_message.split("\n") : [],
    last: session.resume_after, // the last path that was seen
    added: 0, changed: 0, // in the chunk that is being stored
  };
  const stateFolder = STATE ? fs.statSync(STATE, { bigint: true, throwIfNoEntry: false }) : undefined;
  const found = walk(root, {
    isIgnored: ignoring(library.ignored), stateFolder, resumeAfter: session.resume_after, seen: counts,
  });
  let chunk = [];
  let from = session.resume_after ?? "";
  let stored = 0; // files since the session was last written
  const store = async (upTo) => {
    const isWritten = await compare(owned, session, root, { files: chunk, from, upTo }, counts, stored >= 50_000);
    stored = isWritten ? 0 : stored + chunk.length;
    from = upTo ?? from;
    chunk = [];
    owned.report(counts.files + counts.directories, Number(session.total_paths ?? 0));
    await new Promise(setImmediate); // let signals and messages in
    owned.goOn();
  };
  for (const file of found) {
    chunk.push(file);
    counts.files++;
    counts.last = file.path;
    counts.bytes += file.stat.size;
    if (chunk.length >= CHUNK) await store(file.path);
  }
  if (isEmpty || counts.files === 0) {
    const known = await owned.database.get(
      "SELECT 1 AS one FROM library_files WHERE library_id = ? AND is_missing = 0 LIMIT 1", library.id);
    if (known) { // SCAN-3
      throw new JobFailed("ROOT_EMPTY", `The folder ${library.root_path} is empty although files of it are known. `
        + "Most likely its disk or share is not mounted: mount it and scan again.");
    }
  }
  await store(null); // all rows behind the last file, too
  return counts;
}

/** SCAN-6, SCAN-7: one chunk. `upTo` is null for the last. True when the session was written. */
async function compare(owned, session, root, { files, from, upTo }, counts, isDue) {
  const rowsFrom = (source) => source.all(
    `SELECT id, relative_path, size_bytes, mtime_ns, inode, device, is_missing, hashed_at, created_at
     FROM library_files WHERE library_id = ? AND relative_path > ?${upTo === null ? "" : " AND relative_path <= ?"}
     ORDER BY relative_path`,
    owned.libraryId, from, ...(upTo === null ? [] : [upTo]),
  );
  // A first look without a lock: most chunks of most scans differ in nothing.
  if (differences(await rowsFrom(owned.database), files, root).length === 0 && !isDue) return false;
  await owned.transaction(async (tx) => {
    const differing = differences(await rowsFrom(tx), files, root); // now that no other plane writes
    counts.added = counts.changed = 0;
    const known = differing.filter(({ row }) => row).sort((one, other) => (one.row.id < other.row.id ? -1 : 1));
    await lockFiles(tx, known.map(({ row }) => row.id));
    for (const { row, file, what } of known) await storeKnown(tx, session, row, file, what, counts);
    for (const { row, file } of differing) if (!row) await storeNew(tx, session, owned.libraryId, file, counts);
    await tx.run(
      `UPDATE scan_sessions SET files_seen = ?, directories_seen = ?, bytes_seen = ?, error_count = ?,
         error_message = ?, resume_after = ?, added_count = added_count + ?, changed_count = changed_count + ?
       WHERE id = ?`,
      counts.files, counts.directories, counts.bytes, counts.errors, counts.named.join("\n") || null,
      counts.last, counts.added, counts.changed, session.id,
    );
  });
  return true;
}

/** What of a chunk is not as the rows say: `{ row, file, what }`. */
function differences(rows, files, root) {
  const differing = [];
  const unseen = new Map(rows.map((row) => [row.relative_path, row]));
  for (const file of files) {
    const row = unseen.get(file.path);
    unseen.delete(file.path);
    if (!row) {
      differing.push({ file, what: "new" });
      continue;
    }
    const isAlike = row.size_bytes === file.stat.size && row.mtime_ns === file.stat.mtimeNs
      && equals(row.inode, file.stat.ino) && equals(row.device, file.stat.dev);
    if (row.is_missing) {
      const birth = isAlike ? birthOf(root, file.path, row) : "after"; // MOVE-5
      const what = birth === "before" || birth === "unknown" ? "returned" : "other";
      if (birth !== "gone") differing.push({ row, file, what });
    } else if (!isAlike) differing.push({ row, file, what: "changed" });
  }
  for (const row of unseen.values()) if (!row.is_missing) differing.push({ row, what: "unseen" });
  return differing;
}

async function note(tx, session, finding, id) {
  await tx.run(
    "INSERT INTO scan_findings (session_id, finding, file_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    session.id, finding, id,
  );
}

async function storeKnown(tx, session, row, file, what, counts) {
  if (what === "unseen") return note(tx, session, "unseen", row.id); // decided at the end
  if (what === "returned") {
    await tx.run("UPDATE library_files SET is_missing = 0, updated_at = ? WHERE id = ?", tx.now, row.id);
  } else {
    const { stat } = file;
    await tx.run(
      `UPDATE library_files SET size_bytes = ?, mtime_ns = ?, inode = ?, device = ?, is_missing = 0, ${CLEARED},
         updated_at = ? WHERE id = ?`,
      stat.size, stat.mtimeNs, signed(stat.ino), signed(stat.dev), tx.now, row.id,
    );
    if (what === "other") await note(tx, session, "added", row.id);
  }
  if (what === "changed") counts.changed++;
  else counts.added++; // SCAN-7: a file that returns counts as added
}

async function storeNew(tx, session, libraryId, { path, stat }, counts) {
  const inserted = await tx.get(
    `INSERT INTO library_files
       (library_id, relative_path, size_bytes, mtime_ns, inode, device, needs_hash, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?) ON CONFLICT (library_id, relative_path) DO NOTHING RETURNING id`,
    libraryId, path, stat.size, stat.mtimeNs, signed(stat.ino), signed(stat.dev), tx.now, tx.now,
  );
  if (!inserted) return; // a restore was faster
  await note(tx, session, "added", inserted.id);
  counts.added++;
}

/** SCAN-8 */
async function end(owned, session, library, root, counts) {
  if (counts.errors === 0) {
    await move(owned, session, root);
    await markMissing(owned, session);
  }
  if (!await isUnchanged(owned, session, library)) await chooseCandidates(owned);
  await owned.transaction(async (tx) => {
    await tx.run(
      `DELETE FROM scan_findings WHERE session_id = ?
         OR session_id NOT IN (SELECT id FROM scan_sessions WHERE status = 'running')`, session.id);
  });
  owned.report(counts.files + counts.directories, Number(session.total_paths ?? 0));
  await owned.transaction((tx) => tx.run( // SCAN-9
    `UPDATE scan_sessions SET status = 'succeeded', finished_at = ?, files_seen = ?, directories_seen = ?,
       bytes_seen = ?, error_count = ?, total_paths = ?, resume_after = ?, error_code = ?, error_message = ?
     WHERE id = ?`,
    tx.now, counts.files, counts.directories, counts.bytes, counts.errors, counts.files + counts.directories,
    counts.last ?? "",
    ...(counts.errors ? ["SCAN_INCOMPLETE", `${counts.errors} files or folders could not be read `
      + `(${counts.named.join(", ")}${counts.errors > counts.named.length ? ", …" : ""}); what was not seen is not `
      + "taken for missing. Let this user read them, or ignore them."] : [null, null]), session.id,
  ));
}

async function markMissing(owned, session) {
  for (;;) {
    const unseen = await owned.database.all(
      `SELECT file_id FROM scan_findings WHERE session_id = ? AND finding = 'unseen' ORDER BY file_id LIMIT ${BATCH}`,
      session.id);
    if (unseen.length === 0) return;
    await owned.transaction(async (tx) => {
      let removed = 0;
      await lockFiles(tx, unseen.map((row) => row.file_id));
      for (const { file_id: id } of unseen) {
        removed += Number(await tx.run( // a row that is newer was put back behind the scan's back
          "UPDATE library_files SET is_missing = 1, updated_at = ? WHERE id = ? AND is_missing = 0 AND updated_at <= ?",
          tx.now, id, session.started_at));
        await tx.run("DELETE FROM scan_findings WHERE session_id = ? AND file_id = ?", session.id, id);
      }
      await tx.run("UPDATE scan_sessions SET removed_count = removed_count + ? WHERE id = ?", removed, session.id);
    });
  }
}
