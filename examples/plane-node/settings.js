// What a plane is told by its environment (Planes), and what it says about itself (Registration).
import { randomBytes } from "node:crypto";
import os from "node:os";

export const DATABASE = process.env.KURABITO_DATABASE;
export const STATE = process.env.KURABITO_STATE;
const seconds = (name, otherwise) => BigInt(Math.round(Number(process.env[name] || otherwise) * 1e6));
export const LEASE = seconds("KURABITO_LEASE_SECONDS", 30); // microseconds
export const HEARTBEAT = seconds("KURABITO_HEARTBEAT_SECONDS", 5);

export const MAJOR = 1n; // VER-1
export const PROTOCOL = "1.0"; // VER-2: the version that this program was written for
export const VERSION = "0.1.0";
export const LINES = ["scan", "hash", "delete"]; // REG-4
export const CAPABILITIES = ["scan", "hash.blake3", "hash.sha256", "delete.trash"]; // VER-4

/** REG-3: a name that no other plane ever had. */
export function newName() {
  const host = os.hostname().replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 100);
  return process.env.KURABITO_WORKER_NAME || `${host}-${process.pid}-${randomBytes(4).toString("hex")}`;
}
