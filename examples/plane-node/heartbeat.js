// The thread that says that the plane lives (REG-2) and renews the lease of the job that it owns (LEASE-3). It has a
// connection of its own and does nothing else, so that a long read or a large query cannot starve it.
import { parentPort, workerData } from "node:worker_threads";
import { connect, ConnectionLost } from "./database.js";
import { register, renew } from "./lease.js";
import { DATABASE, HEARTBEAT } from "./settings.js";

const database = await connect(DATABASE);
let job = null;
let progress = { processed: 0, progress: 0 };
let isEnding = false;
let wake = () => {};

parentPort.on("message", (said) => {
  if ("job" in said) job = said.job;
  if ("progress" in said) progress = said.progress;
  if ("end" in said) isEnding = true, wake();
});

while (!isEnding) {
  await new Promise((resolve) => {
    wake = resolve;
    setTimeout(resolve, Number(HEARTBEAT) / 1000);
  });
  if (isEnding) break;
  const renewed = job;
  try {
    const isOurs = await database.transaction(async (tx) => {
      await register(tx, workerData.name);
      return !renewed || await renew(tx, renewed, progress);
    });
    // LEASE-8. A job that ended just now is no loss: its owner does not listen any more.
    if (!isOurs) parentPort.postMessage({ lost: renewed.workerId });
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error; // whether this one got through, the next one finds out
  }
}
await database.close();
parentPort.close();
