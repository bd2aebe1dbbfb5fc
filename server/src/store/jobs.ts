import type { Db } from './database.ts'

/** What is done in the background, each with what it is told. */
export interface Jobs {
  'handle-notice': { appId: string; seq: number }
  'sync-checkout': { appId: string; provider: string; ref: string }
  'sync-subscription': { appId: string; provider: string; ref: string }
  'cancel-at-provider': { appId: string; provider: string; ref: string }
  'send-sandbox-event': { appId: string; id: string }
  'turn-sandbox': { appId: string }
  'delete-import': { appId: string; id: string; after: number }
  'turn-sandboxes': Record<never, never>
  reconcile: { which: 'due' | 'all' }
}

/** Tries before a job is given up: with their growing pauses, about a day. */
const JOB_ATTEMPTS = 19

/**
 * Has something done in the background once this transaction is committed. Of several with one key that wait, one is
 * done.
 */
export async function addJob<Name extends keyof Jobs>(
  db: Db,
  name: Name,
  told: Jobs[Name],
  key: string | null = null,
): Promise<void> {
  await db.query(
    `select from graphile_worker.add_job($1, $2::json, max_attempts => $3, job_key => $4, job_key_mode => 'replace')`,
    [name, JSON.stringify(told), JOB_ATTEMPTS, key],
  )
}

/** The same for many, in one statement. */
export async function addJobs<Name extends keyof Jobs>(
  db: Db,
  name: Name,
  told: readonly Jobs[Name][],
): Promise<void> {
  await db.query(
    `select graphile_worker.add_job($1, t::json, max_attempts => $3) from unnest($2::text[]) as t`,
    [name, told.map((each) => JSON.stringify(each)), JOB_ATTEMPTS],
  )
}

/**
 * Has something done at the next full turn of so many seconds. All processes name that turn alike, so it is done once,
 * however many ask for it.
 */
export async function addJobForTurn<Name extends keyof Jobs>(
  db: Db,
  name: Name,
  told: Jobs[Name],
  seconds: number,
): Promise<void> {
  await db.query(
    `select from (select to_timestamp((floor(extract(epoch from now()) / $4) + 1) * $4) as turn) t,
       graphile_worker.add_job($1, $2::json, max_attempts => $3, run_at => t.turn,
         job_key => $1 || ' ' || $4::text || ' ' || t.turn::text, job_key_mode => 'replace')`,
    [name, JSON.stringify(told), JOB_ATTEMPTS, seconds],
  )
}

/** Jobs that a process had in hand when it died are for others; graphile-worker itself would wait for four hours. */
export async function freeStrandedJobs(db: Db, minutes: number): Promise<void> {
  await db.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
     where locked_at < now() - make_interval(mins => $1) having count(*) > 0`,
    [minutes],
  )
}
