// A data plane for Kurabito in plain Node.js: `scan`, `hash` and `delete` jobs as docs/protocol.md says (version 1.0).
//
//   KURABITO_DATABASE=sqlite:////srv/kurabito.db KURABITO_STATE=/srv/kurabito node plane.js [--once]
import { Worker } from "node:worker_threads";
import { connect, ConnectionLost } from "./database.js";
import { remove } from "./delete.js";
import { hash } from "./hash.js";
import { claim, Owned, register, somethingToDo } from "./lease.js";
import { scan } from "./scan.js";
import { DATABASE, MAJOR, newName, PROTOCOL } from "./settings.js";

const WORK = { scan, hash, delete: remove };
const POLL = 500; // milliseconds between two looks for work
const isOnce = process.argv.includes("--once");

const database = await connect(DATABASE);

// VER-1: before anything is written
const spoken = await database.get("SELECT major, minor FROM protocol_version");
if (spoken?.major !== MAJOR) {
  console.error(`this plane speaks ${PROTOCOL}, the database ${spoken ? `${spoken.major}.${spoken.minor}` : "none"}`);
  process.exit(2);
}

const name = newName();
await database.transaction((tx) => register(tx, name)); // REG-1: before the first claim
const heartbeats = new Worker(new URL("./heartbeat.js", import.meta.url), { workerData: { name } });
heartbeats.on("error", (error) => { // no lease is kept without: a crash, after which leases expire
  console.error(error);
  process.exit(1);
});

let isEnding = false;
let wake = () => {};
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => {
    isEnding = true;
    wake();
  });
}

/** Claims a job and does it; false when there is none now. */
async function workOnOne() {
  try {
    const job = await somethingToDo(database) ? await claim(database, name) : null;
    if (!job) return false;
    const outcome = await new Owned(database, job, heartbeats, () => isEnding).run(WORK[job.kind]);
    console.log(`${job.kind} ${job.id}: ${outcome}`);
    return true;
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error; // PLANE-7: a lease that is not known of runs out
    return false;
  }
}

console.log(`${name} waits for work`);
while (!isEnding) {
  if (await workOnOne()) continue;
  if (isOnce) break;
  await new Promise((resolve) => {
    wake = resolve;
    setTimeout(resolve, POLL);
  });
}

// PLANE-8: the job was given back by `Owned`; the heartbeats end first, or they would register the plane again.
const ended = new Promise((resolve) => heartbeats.on("exit", resolve));
heartbeats.postMessage({ end: true });
await ended;
await database.transaction((tx) => tx.run("DELETE FROM data_planes WHERE name = ?", name));
await database.close();
process.exit(0);
