// SCAN-4: every ordinary file below a folder, in the order of PATH-4.
import fs from "node:fs";
import { inOrder, isSame, list, look, lookAtOpen, openFolder, reasonOf, TRASH, textOf } from "./paths.js";

/**
 * Yields `{ path, stat }`. `seen` counts folders and errors: a file and all folders before it are counted when it is
 * yielded, so that a session that is stored then can be taken up behind it. What lies up to `resumeAfter` was counted
 * by an earlier owner.
 */
export function* walk(root, { isIgnored, stateFolder, resumeAfter, seen }) {
  yield* below(root, "", [lookAtOpen(root)]);

  function* below(folder, prefix, above) {
    const entries = list(folder)
      .filter((entry) => entry.isFile() || entry.isDirectory()) // no links, pipes, sockets and devices
      .map((entry) => ({ name: entry.name, path: prefix + textOf(entry.name), isFolder: entry.isDirectory() }))
      .map((entry) => ({ ...entry, key: entry.isFolder ? `${entry.path}/` : entry.path }))
      .sort((one, other) => inOrder(one.key, other.key));
    for (const entry of entries) {
      const isBehind = resumeAfter === null || inOrder(entry.key, resumeAfter) > 0;
      const isOnTheWay = entry.isFolder && resumeAfter?.startsWith(entry.key);
      if (!isBehind && !isOnTheWay) continue;
      if (entry.isFolder && entry.name.equals(Buffer.from(TRASH))) continue; // whatever the patterns say
      if (isIgnored(entry.path, entry.isFolder)) continue;
      if (entry.isFolder) yield* into(folder, entry, above, isBehind);
      else {
        const stat = tried(entry.key, () => look(folder, entry.name));
        if (stat?.isFile()) yield { path: entry.path, stat };
      }
    }
  }

  function* into(parent, entry, above, isCounted) {
    const folder = tried(entry.key, () => openFolder(parent, entry.name));
    if (folder === undefined) return;
    try {
      const stat = lookAtOpen(folder);
      if (stateFolder && isSame(stat, stateFolder) || above.some((upper) => isSame(stat, upper))) return;
      if (isCounted) seen.directories++;
      let inside;
      // the first step lists the folder; only an error of that step is one of this folder
      const first = tried(entry.key, () => (inside = below(folder, entry.key, [...above, stat])).next());
      if (first === undefined || first.done) return;
      yield first.value;
      yield* inside;
    } finally {
      fs.closeSync(folder);
    }
  }

  /** SCAN-5: what vanished is not there; every other error is counted, and the first 5 are named. */
  function tried(path, action) {
    try {
      return action();
    } catch (error) {
      if (!error.code) throw error;
      if (error.code === "ENOENT") return undefined;
      seen.errors++;
      if (seen.named.length < 5) seen.named.push(`${JSON.stringify(path)}: ${reasonOf(error)}`);
      return undefined;
    }
  }
}
