// A `delete` job: takes the steps of a plan, puts entries of the trash back, or removes them for good.
import { purge, restore } from "./entries.js";
import { isOver, refuse, Refused, rowOf } from "./log.js";
import { JobFailed } from "./lease.js";
import { mendAbandoned } from "./mend.js";
import { takeStep } from "./plan.js";
import { Roots } from "./roots.js";

export async function remove(owned) {
  const payload = readPayload(owned.job.payload);
  const roots = new Roots(owned.database);
  try {
    await mendAbandoned(owned, roots); // DELETE-12
    if ("plan" in payload) await takePlan(owned, roots, BigInt(payload.plan));
    else if ("restore" in payload) await each(owned, roots, payload.restore, restore);
    else await each(owned, roots, payload.purge, purge);
  } finally {
    roots.close();
  }
}

function readPayload(text) {
  let payload = null;
  try {
    payload = JSON.parse(text);
  } catch {
    // told below, with everything else that is no payload
  }
  const isEntries = (value) => Array.isArray(value) && value.every((id) => typeof id === "string");
  if (Number.isSafeInteger(payload?.plan) || isEntries(payload?.restore) || isEntries(payload?.purge)) return payload;
  throw new JobFailed("WORKER_FAILURE", `The payload of the job is not understood: ${text}`); // JOB-2
}

async function takePlan(owned, roots, planId) {
  const steps = await owned.database.all("SELECT * FROM deletion_steps WHERE plan_id = ? ORDER BY position", planId);
  let ended = 0;
  for (const step of steps) { // DELETE-2: in their order
    owned.goOn();
    const row = await rowOf(owned, step.position);
    if (!isOver(row)) {
      if (!owned.job.isDry) await seeThatItIsAllowed(owned);
      await takeStep(owned, roots, step, row);
    }
    owned.report(++ended, steps.length); // those of earlier claims count
  }
}

/** TRASH-7: goes on when an entry is refused. A restore with a refusal is a job that failed, a purge is not. */
async function each(owned, roots, ids, act) {
  let first = null;
  for (const [at, id] of ids.entries()) {
    owned.goOn();
    const position = BigInt(at + 1);
    const row = await rowOf(owned, position);
    if (!isOver(row)) {
      const entry = await owned.database.get("SELECT * FROM trash_entries WHERE id = ?", id);
      if (act === purge) await seeThatItIsAllowed(owned);
      if (entry && entry.left_at === null) {
        const refused = await oneEntry(owned, roots, entry, position, row, act);
        first ??= refused;
      }
    }
    owned.report(at + 1, ids.length);
  }
  if (first && act === restore) throw new JobFailed(first.code, first.message);
}

/** DELETE-1: the keeper may have changed their mind since the last step. */
async function seeThatItIsAllowed(owned) {
  if (await owned.database.get("SELECT 1 AS one FROM deletion_policy WHERE allow_delete = 1")) return;
  throw new JobFailed("DELETION_NOT_ALLOWED", "Nothing may be removed now; allow it and order it again.");
}

async function oneEntry(owned, roots, entry, position, row, act) {
  const what = {
    id: row?.id ?? null, isBegun: row !== undefined, position, libraryId: entry.library_id, path: entry.relative_path,
    trashPath: entry.trash_path,
  };
  try {
    await act(owned, roots, entry, what);
    return null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await refuse(owned, what, error);
    return error;
  }
}
