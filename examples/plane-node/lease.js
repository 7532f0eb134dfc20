// Registration, and the four statements about `jobs`: recover, claim, renew, finish. No other file writes to `jobs`.
import { randomBytes } from "node:crypto";
import { ConnectionLost } from "./database.js";
import { CAPABILITIES, LEASE, LINES, PROTOCOL, VERSION } from "./settings.js";

/** LEASE-8: the row was cancelled, or is another's. Nothing more is written about it. */
export class LeaseLost extends Error {}
/** PLANE-8: the plane was asked to end, and gives back what it owns. */
export class Ending extends Error {}
/** The job cannot be done: it ends as `failed` with this code and this sentence (JOB-3, VALUE-5). */
export class JobFailed extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** REG-2: also a plane that only stood still, and whose row is gone, is registered again by this. */
export async function register(tx, name) {
  await tx.run(
    `INSERT INTO data_planes (name, lines, version, protocol, capabilities, started_at, heartbeat_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at`,
    name, JSON.stringify(LINES), VERSION, PROTOCOL, JSON.stringify(CAPABILITIES), tx.now, tx.now, tx.now + LEASE,
  );
}

const STALE = "status = 'running' AND (lease_expires_at IS NULL OR lease_expires_at <= ?)";

// JOB-1: what removes something waits until the keeper allows it.
const MAY_RUN = `NOT (jobs.kind = 'delete' AND jobs.dry_run = 0 AND jobs.payload NOT LIKE '{"restore"%')
    OR EXISTS (SELECT 1 FROM deletion_policy WHERE allow_delete = 1)`;
// VER-4, VER-5: only what this plane knows. A hash whose library is gone is claimed, and ends as JOB-2 says.
const claimable = ({ planOf }) => `
  SELECT jobs.id, jobs.kind, jobs.library_id, jobs.payload, jobs.dry_run FROM jobs
  WHERE jobs.status = 'pending' AND (${MAY_RUN}) AND (jobs.kind = 'scan'
    OR jobs.kind = 'hash' AND NOT EXISTS (
      SELECT 1 FROM library_roots WHERE library_roots.id = jobs.library_id AND algorithm NOT IN ('blake3', 'sha256'))
    OR jobs.kind = 'delete' AND (jobs.payload LIKE '{"restore"%' OR jobs.payload LIKE '{"purge"%'
      OR jobs.payload LIKE '{"plan"%' AND NOT EXISTS (
        SELECT 1 FROM deletion_plans WHERE deletion_plans.id = ${planOf} AND mode <> 'trash')))
  ORDER BY jobs.created_at, jobs.id LIMIT 1`;

/** A look without a lock, so that an idle plane does not stop others from writing. */
export async function somethingToDo(database) {
  const now = BigInt(Date.now()) * 1000n; // only a hint: the claim has the right clock
  return await database.get(claimable(database))
    || await database.get(`SELECT id FROM jobs WHERE ${STALE} LIMIT 1`, now);
}

/** LEASE-1, LEASE-2, LEASE-6: take stale jobs away, then claim the first that this plane can do. */
export async function claim(database, name) {
  return database.transaction(async (tx) => {
    const stale = await tx.all(`SELECT id FROM jobs WHERE ${STALE} ORDER BY id ${tx.forUpdate}`, tx.now);
    for (const { id } of stale) {
      await tx.run(
        `UPDATE jobs SET status = 'retryable', worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL,
           error_code = 'LEASE_EXPIRED', updated_at = ?,
           error_message = 'The worker stopped renewing its lease, so the job was taken from it; it is tried again.'
         WHERE id = ? AND ${STALE}`,
        tx.now, id, tx.now,
      );
    }
    const job = await tx.get(`${claimable(tx)} ${tx.forUpdate}`);
    if (!job) return null;
    await register(tx, name); // REG-1: the row may be gone when this plane stood still
    const workerId = `${name}#${randomBytes(16).toString("hex")}`;
    const claimed = await tx.run(
      `UPDATE jobs SET status = 'running', worker_id = ?, worker_heartbeat_at = ?, lease_expires_at = ?, started_at = ?,
         updated_at = ? WHERE id = ? AND status = 'pending'`,
      workerId, tx.now, tx.now + LEASE, tx.now, tx.now, job.id,
    );
    const { id, kind, library_id: libraryId, payload, dry_run: isDry } = job;
    return claimed ? { id, kind, libraryId, payload, isDry: Boolean(isDry), workerId } : null;
  });
}

/** LEASE-3, and PROGRESS-1 with it. False when the lease is lost. */
export async function renew(tx, { id, workerId }, { processed, progress }) {
  return await tx.run(
    `UPDATE jobs SET worker_heartbeat_at = ?, lease_expires_at = ?, updated_at = ?, processed_items = ?, progress = ?
     WHERE id = ? AND status = 'running' AND worker_id = ?`,
    tx.now, tx.now + LEASE, tx.now, processed, progress, id, workerId,
  ) > 0;
}

/**
 * LEASE-5. Where the job failed, `progress` keeps what it had (PROGRESS-1). The path `finish` has no `processed_items`,
 * so the last count goes with a last heartbeat. False when the lease is lost.
 */
async function finish(database, job, counted, status, code, message) {
  return database.transaction(async (tx) => await renew(tx, job, counted) && await tx.run(
    `UPDATE jobs SET status = ?, error_code = ?, error_message = ?, finished_at = ?, worker_heartbeat_at = ?,
       lease_expires_at = NULL, updated_at = ?${status === "completed" ? ", progress = 1" : ""}
     WHERE id = ? AND status = 'running' AND worker_id = ?`,
    status, code, message, tx.now, tx.now, tx.now, job.id, job.workerId,
  ) > 0);
}

/** LEASE-9 */
async function giveBack(database, { id, workerId }) {
  return database.transaction((tx) => tx.run(
    `UPDATE jobs SET status = 'retryable', worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL,
       error_code = NULL, error_message = NULL, updated_at = ? WHERE id = ? AND status = 'running' AND worker_id = ?`,
    tx.now, id, workerId,
  ));
}

/**
 * A job that this plane owns. `heartbeats` is the thread that renews the lease meanwhile (LEASE-3), `isEnding` says
 * whether the plane was asked to end.
 */
export class Owned {
  #lost = false;
  #progress = { processed: 0, progress: 0 };

  constructor(database, job, heartbeats, isEnding) {
    Object.assign(this, { database, job, heartbeats, isEnding });
    this.libraryId = job.libraryId;
  }

  /** PROGRESS-1: written with the next heartbeat. */
  report(processed, total) {
    const progress = total > 0 ? Math.min(1, processed / total) : 0;
    this.#progress = { processed, progress };
    this.heartbeats.postMessage({ progress: this.#progress });
  }

  /** Called often by the work, before it touches the disk again. */
  goOn() {
    if (this.#lost) throw new LeaseLost();
    if (this.isEnding()) throw new Ending();
  }

  /** LEASE-4: every transaction about the job begins with its lease, and is rolled back without. */
  async transaction(work) {
    this.goOn();
    return this.database.transaction(async (tx) => {
      if (!await renew(tx, this.job, this.#progress)) throw new LeaseLost();
      return work(tx);
    });
  }

  /** Does the work, and says to `jobs` how it ended. */
  async run(work) {
    const listen = ({ lost }) => { if (lost === this.job.workerId) this.#lost = true; };
    this.heartbeats.on("message", listen);
    this.heartbeats.postMessage({ job: this.job, progress: this.#progress });
    let outcome;
    try {
      await work(this);
      outcome = ["completed", null, null];
    } catch (error) {
      if (error instanceof LeaseLost) outcome = null;
      else if (error instanceof Ending || error instanceof ConnectionLost) outcome = "back";
      else if (error instanceof JobFailed) outcome = ["failed", error.code, error.message];
      else outcome = ["failed", "WORKER_FAILURE", `The ${this.job.kind} met an error: ${error.message}. See the log.`];
      if (outcome?.[1] === "WORKER_FAILURE") console.error(error);
    }
    this.heartbeats.postMessage({ job: null });
    this.heartbeats.off("message", listen);
    if (outcome === "back") {
      await giveBack(this.database, this.job);
      return "given back";
    }
    const isOurs = outcome && await finish(this.database, this.job, this.#progress, ...outcome);
    return isOurs ? outcome.slice(0, 2).filter(Boolean).join(" ") : "lost";
  }
}
