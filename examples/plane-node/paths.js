// Names as bytes and as text (PATH-2), their order (PATH-4), and ways to a file that follow no link (PATH-3, PATH-5).
//
// Node has no openat(). On Linux `/proc/self/fd/<n>/<name>` is the same: the kernel goes from the folder that is open
// as <n>, and O_NOFOLLOW refuses a link as <name>.
import fs, { constants } from "node:fs";

export const TRASH = ".kurabito-trash";
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY; // PATH-5

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const escaped = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(0xef00 + byte)).join("");
const ESCAPES = /[\uef80-\uefff]/;

/** How many bytes the character at `start` has by its first byte; it is seen later whether they are one. */
function lengthOf(first) {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/** PATH-2: the text of a name. */
export function textOf(bytes) {
  try {
    const text = utf8.decode(bytes);
    if (!ESCAPES.test(text)) return text;
  } catch {
    // not UTF-8: character by character, below
  }
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const piece = bytes.subarray(at, at + lengthOf(bytes[at]));
    let character = null;
    try {
      character = utf8.decode(piece);
    } catch {
      // this byte belongs to no character
    }
    if (character === null) text += escaped(bytes.subarray(at, ++at));
    else {
      text += ESCAPES.test(character) ? escaped(piece) : character;
      at += piece.length;
    }
  }
  return text;
}

/** PATH-2, the way back. */
export function bytesOf(text) {
  if (!ESCAPES.test(text)) return Buffer.from(text);
  return Buffer.concat(Array.from(text, (character) =>
    ESCAPES.test(character) ? Buffer.of(character.charCodeAt(0) - 0xef00) : Buffer.from(character)));
}

/** PATH-4: by code points. (JavaScript's own order is that of UTF-16, which is another one above U+FFFF.) */
export function inOrder(one, other) {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** VALUE-4 */
export const signed = (number) => BigInt.asIntN(64, number);
export const equals = (stored, seen) => stored !== null && BigInt.asIntN(64, stored) === BigInt.asIntN(64, seen);
/** Where a file is read, a number that is not known agrees with every one; a scan takes it for a difference. */
export const agrees = (stored, seen) => stored === null || equals(stored, seen);

/** PATH-1, PATH-3: the names of a stored path, or null when it may not be used. */
export function namesOf(path) {
  const names = path.split("/");
  const isLegal = Array.from(path).length <= 4096 && !path.includes("\0") && !names.slice(0, -1).includes(TRASH)
    && names.every((name) => name !== "" && name !== "." && name !== "..");
  return isLegal ? names.map(bytesOf) : null;
}

/** PATH-3: the same of a path in the trash, which ends with the trash folder and the 32 digits of an entry. */
export function trashNamesOf(path) {
  const names = path.split("/");
  const isLegal = names.length >= 2 && names.at(-2) === TRASH && /^[0-9a-f]{32}$/.test(names.at(-1))
    && (names.length === 2 || namesOf(names.slice(0, -2).join("/")) !== null) && !names.slice(0, -2).includes(TRASH);
  return isLegal ? names.map(bytesOf) : null;
}

export const within = (folder, name) => Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), name]);
export const openRoot = (rootPath) => fs.openSync(bytesOf(rootPath), constants.O_RDONLY | constants.O_DIRECTORY);
export const openFolder = (folder, name) => fs.openSync(within(folder, name), FOLDER);
export const openFile = (folder, name) => fs.openSync(within(folder, name), FILE);
export const look = (folder, name) => fs.lstatSync(within(folder, name), { bigint: true });
export const lookAtOpen = (descriptor) => fs.fstatSync(descriptor, { bigint: true });
export const list = (folder) => fs.readdirSync(`/proc/self/fd/${folder}/`, { withFileTypes: true, encoding: "buffer" });
export const isSame = (one, other) => one.dev === other.dev && one.ino === other.ino;

/** PATH-3: goes to the folder of a file, one folder from the other, and does something with it and the last name. */
export function inFolderOf(root, names, work) {
  let folder = root;
  try {
    for (const name of names.slice(0, -1)) {
      const next = openFolder(folder, name);
      if (folder !== root) fs.closeSync(folder);
      folder = next;
    }
    return work(folder, names.at(-1));
  } finally {
    if (folder !== root) fs.closeSync(folder);
  }
}

/** PATH-3: the folder of a file, open; the caller closes it. */
export function openParent(root, names) {
  return inFolderOf(root, names, (folder) => openFolder(folder, Buffer.from(".")));
}

/** What a folder has under this name, be it a link that leads nowhere; null when it has nothing. */
export function lookFor(folder, name) {
  try {
    return look(folder, name);
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

export const exists = (folder, name) => lookFor(folder, name) !== null;

/** What has this path; null when nothing does, and for null, which is no path. */
export function lookAt(root, names) {
  try {
    return names && inFolderOf(root, names, lookFor);
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

export const isAt = (root, names) => lookAt(root, names) !== null;

/** The reason of an error of the file system, without the path that is in Node's message. */
export const reasonOf = (error) => /^[A-Z0-9]+: ([^,]+),/.exec(error.message)?.[1] ?? error.message;
