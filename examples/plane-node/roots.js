// The folders of libraries, each opened once for a job; and files in them, opened as PATH-3 says.
import fs from "node:fs";
import { Refused } from "./log.js";
import { inFolderOf, look, lookAtOpen, namesOf, openFile, openParent, openRoot, reasonOf } from "./paths.js";

/** What is refused for the file that goes, and for the copy that stays (DELETE-4). */
export const GOES = { what: "The file", missing: "FILE_MISSING", changed: "FILE_CHANGED" };
export const STAYS = { what: "The copy that stays", missing: "KEPT_MISSING", changed: "KEPT_CHANGED" };

export class Roots {
  #open = new Map();

  constructor(database) {
    this.database = database;
  }

  /** `{ root, path }` of a library; refused when there is no such library, or its disk is not there. */
  async of(libraryId) {
    const known = this.#open.get(libraryId);
    if (known) return known;
    const library = await this.database.get("SELECT root_path FROM library_roots WHERE id = ?", libraryId);
    if (!library) throw new Refused("ROOT_UNAVAILABLE", "The library is gone.");
    try {
      const opened = { root: openRoot(library.root_path), path: library.root_path };
      this.#open.set(libraryId, opened);
      return opened;
    } catch (error) {
      throw new Refused("ROOT_UNAVAILABLE",
        `The folder ${library.root_path} cannot be opened: ${reasonOf(error)}. Check that its disk is there.`);
    }
  }

  close() {
    for (const { root } of this.#open.values()) fs.closeSync(root);
  }
}

/** A file that is held open with its folder, as it was when it was compared. */
export class HeldFile {
  constructor(root, path, role) {
    this.names = namesOf(path);
    if (!this.names) throw new Refused("PATH_ESCAPES", `${role.what} has a path that may not be used: ${path}`);
    Object.assign(this, { root, path, role, name: this.names.at(-1) });
    try {
      this.folder = openParent(root, this.names);
      this.descriptor = openFile(this.folder, this.name);
    } catch (error) {
      this.close();
      throw refusalOf(error, role, path);
    }
    this.stat = lookAtOpen(this.descriptor);
    if (!this.stat.isFile()) {
      this.close();
      throw new Refused(role.missing, `${role.what} is no ordinary file any more: ${path}`); // PATH-5
    }
  }

  /** Refuses when the file is not as it was decided about. */
  expect(size, mtime) {
    if (this.stat.size !== size || this.stat.mtimeNs !== mtime) {
      throw new Refused(this.role.changed, `${this.role.what} changed since it was hashed: ${this.path}. Scan again.`);
    }
  }

  /** DELETE-8: the same file is still there by its path, from the library's folder on, and did not change. */
  seeAgain() {
    let now;
    try {
      now = inFolderOf(this.root, this.names, look);
    } catch (error) {
      throw refusalOf(error, this.role, this.path);
    }
    const { dev, ino, size, mtimeNs, ctimeNs } = this.stat;
    if (now.dev !== dev || now.ino !== ino || now.size !== size || now.mtimeNs !== mtimeNs || now.ctimeNs !== ctimeNs) {
      throw new Refused(this.role.changed, `${this.role.what} changed meanwhile: ${this.path}. Scan again.`);
    }
  }

  close() {
    for (const held of [this.descriptor, this.folder]) if (held !== undefined) fs.closeSync(held);
    this.descriptor = this.folder = undefined;
  }
}

export function refusalOf(error, role, path) {
  if (error.code === "ENOENT") return new Refused(role.missing, `${role.what} is not there: ${path}. Scan again.`);
  // A link on the way was not followed (PATH-3), and neither was one in the place of the file.
  if (error.code === "ELOOP" || error.code === "ENOTDIR") {
    return new Refused(role.missing, `${role.what} is reached through a link, which is not followed: ${path}`);
  }
  return diskFailure(error);
}

export const diskFailure = (error) =>
  new Refused("DISK_FAILURE", `The disk said: ${reasonOf(error)}. Check it, and try again.`);
