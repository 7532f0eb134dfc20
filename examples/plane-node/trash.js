// The trash on the disk: its place, its sidecars, and moves that replace nothing (TRASH-1, TRASH-3, TRASH-5, TRASH-8).
import fs, { constants } from "node:fs";
import { Refused } from "./log.js";
import {
  bytesOf, exists, isSame, list, look, lookAtOpen, lookFor, openFolder, openParent, TRASH, textOf, trashNamesOf, within,
} from "./paths.js";

const SIDECAR_FORMAT = 1;
const SECOND_NAME = /^\.[0-9a-f]{16}$/;
const NO_LINKS = ["EPERM", "EOPNOTSUPP", "ENOTSUP", "ENOSYS"];
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

/**
 * TRASH-1: the names of the folder in which the trash of a file lies: the highest one on its way that is on the file's
 * file system. A rename must not leave it.
 */
export function holderOf(root, names, device) {
  for (let depth = 0; depth < names.length; depth++) {
    const folder = openParent(root, names.slice(0, depth + 1));
    try {
      if (lookAtOpen(folder).dev === device) return names.slice(0, depth);
    } finally {
      fs.closeSync(folder);
    }
  }
  throw new Refused("DISK_FAILURE", "The folder of the file was moved meanwhile; scan again.");
}

export const trashPathOf = (holder, id) => [...holder.map(textOf), TRASH, id].join("/");

/** A file in the trash, or its place there: the trash folder is held open. */
export class TrashPlace {
  constructor(root, trashPath, { isMade = false } = {}) {
    const names = trashNamesOf(trashPath);
    if (!names) throw new Refused("PATH_ESCAPES", `This is no path of the trash: ${trashPath}`);
    this.name = names.at(-1);
    this.sidecar = Buffer.concat([this.name, Buffer.from(".json")]);
    const parent = openParent(root, names.slice(0, -1));
    try {
      if (isMade) {
        try {
          fs.mkdirSync(within(parent, names.at(-2)), 0o700);
          fs.fsyncSync(parent);
        } catch (error) {
          if (error.code !== "EEXIST") throw error;
        }
      }
      this.folder = openFolder(parent, names.at(-2));
    } finally {
      fs.closeSync(parent);
    }
  }

  get isThere() {
    return exists(this.folder, this.name);
  }

  /** TRASH-3: on the disk before the file is, so that what is found in the trash can always be told apart. */
  writeSidecar(facts) {
    const descriptor = fs.openSync(within(this.folder, this.sidecar), NEW, 0o600);
    try {
      // Numbers of 64 bits are written as they are, which JSON.stringify cannot.
      const pairs = Object.entries({ kurabito_trash: SIDECAR_FORMAT, ...facts }).map(([key, value]) =>
        `${JSON.stringify(key)}: ${typeof value === "bigint" ? value : JSON.stringify(value)}`);
      fs.writeSync(descriptor, `{${pairs.join(", ")}}\n`);
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    fs.fsyncSync(this.folder);
  }

  get size() {
    return look(this.folder, this.name).size;
  }

  /** What the sidecar says; undefined when it is not there, or is none (TRASH-3). */
  readSidecar() {
    try {
      const facts = JSON.parse(fs.readFileSync(within(this.folder, this.sidecar), { flag: READ, encoding: "utf8" }));
      const isKnown = facts.kurabito_trash === SIDECAR_FORMAT && ["blake3", "sha256"].includes(facts.hash_algorithm)
        && /^[0-9a-f]{64}$/.test(facts.content_hash);
      return isKnown ? facts : undefined;
    } catch {
      return undefined;
    }
  }

  removeSidecar() {
    fs.rmSync(within(this.folder, this.sidecar), { force: true });
    fs.fsyncSync(this.folder);
  }

  /**
   * TRASH-8: second names that another plane laid beside the file and left when it died. This plane lays none. `target`
   * is what has the path of the file, if anything does.
   */
  settleSecondNames(target) {
    for (const { name } of list(this.folder)) {
      const isSecond = name.subarray(0, this.name.length).equals(this.name)
        && SECOND_NAME.test(textOf(name.subarray(this.name.length)));
      const found = isSecond ? lookFor(this.folder, name) : null;
      if (!found?.isFile()) continue;
      const own = lookFor(this.folder, this.name);
      const isElsewhere = [own, target].some((other) => other && isSame(other, found));
      if (isElsewhere || found.size === 0n) fs.unlinkSync(within(this.folder, name));
      else if (!own) fs.renameSync(within(this.folder, name), within(this.folder, this.name));
      fs.fsyncSync(this.folder);
    }
  }

  /** DELETE-8: a rename to the free name. Node has no RENAME_NOREPLACE; no other file ever has this name. */
  take(folder, name) {
    if (this.isThere) throw new Refused("DISK_FAILURE", "The place in the trash is taken.");
    fs.renameSync(within(folder, name), within(this.folder, this.name));
    fs.fsyncSync(this.folder);
    fs.fsyncSync(folder);
  }

  /** TRASH-5: a link and then an unlink, which replaces nothing. False when something has the name. */
  giveBack(folder, name) {
    try {
      fs.linkSync(within(this.folder, this.name), within(folder, name));
    } catch (error) {
      if (NO_LINKS.includes(error.code) && !exists(folder, name)) return this.#renameTo(folder, name);
      if (error.code !== "EEXIST") throw error;
      // An owner before may have been killed between the two.
      if (!isSame(look(folder, name), look(this.folder, this.name))) return false;
    }
    fs.fsyncSync(folder);
    this.remove();
    return true;
  }

  /** On file systems that have no hard links. */
  #renameTo(folder, name) {
    fs.renameSync(within(this.folder, this.name), within(folder, name));
    fs.fsyncSync(folder);
    fs.fsyncSync(this.folder);
    return true;
  }

  remove() {
    fs.unlinkSync(within(this.folder, this.name));
    fs.fsyncSync(this.folder);
  }

  close() {
    fs.closeSync(this.folder);
  }
}

/** TRASH-5: the folder of a path, made where it is missing. */
export function makeParent(root, names) {
  let folder = openFolder(root, bytesOf("."));
  for (const name of names.slice(0, -1)) {
    try {
      fs.mkdirSync(within(folder, name));
      fs.fsyncSync(folder);
    } catch (error) {
      if (error.code !== "EEXIST") {
        fs.closeSync(folder);
        throw error;
      }
    }
    const next = openFolder(folder, name);
    fs.closeSync(folder);
    folder = next;
  }
  return folder;
}
