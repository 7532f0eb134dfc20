// Two files, compared to the last byte (DELETE-5): a hash chooses what is compared, and never decides.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { promisify } from "node:util";
import { createBLAKE3 } from "hash-wasm";

const read = promisify(fs.read);
const PIECE = 1 << 20;

/** Fills a buffer from a place in a file; how many bytes there were. A disk may give less than it was asked for. */
async function fill(descriptor, buffer, from) {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await read(descriptor, buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** Whether two open files have the same content. `owned.goOn` ends it when the lease is lost. */
export async function isEqual(owned, one, other) {
  const [left, right] = [Buffer.alloc(PIECE), Buffer.alloc(PIECE)];
  for (let at = 0; ; at += PIECE) {
    owned.goOn();
    const [here, there] = await Promise.all([fill(one, left, at), fill(other, right, at)]);
    if (here !== there || !left.subarray(0, here).equals(right.subarray(0, there))) return false;
    if (here < PIECE) return true;
  }
}

/** The digest of an open file. */
export async function digestOf(owned, descriptor, algorithm) {
  const hasher = algorithm === "blake3" ? (await createBLAKE3()).init() : createHash("sha256");
  const piece = Buffer.alloc(PIECE);
  for (let at = 0; ; at += PIECE) {
    owned.goOn();
    const count = await fill(descriptor, piece, at);
    hasher.update(piece.subarray(0, count));
    if (count < PIECE) break;
  }
  return algorithm === "blake3" ? Buffer.from(hasher.digest("binary")) : hasher.digest();
}
