import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { HomeDb } from '../connection/places.ts'
import type { ChargeJob } from '../credits/recharges.ts'

/** The background jobs, with their arguments. */
export interface Jobs {
  'handle-notice': { appId: string; seq: number }
  'sync-checkout': ProviderRef
  'sync-subscription': ProviderRef
  'cancel-at-provider': ProviderRef
  'close-trial-links': { appId: string; userUid: number }
  'send-sandbox-event': { appId: string; id: string }
  'turn-sandbox': { appId: string }
  'delete-app': { appId: string }
  'delete-import': { appId: string; id: string; after: number }
  'bulk-change': { appId: string; id: string }
  'delete-bulk-change': { appId: string; id: string }
  'turn-sandboxes': Record<never, never>
  'send-password-reset': { email: string; source: string; at: number }
  'publish-scheduled': Record<never, never>
  'charge-recharge': ChargeJob
  'start-recharges': Record<never, never>
  reconcile: { which: 'due' | 'all' }
}

/** Attempts before a job fails for good: about a day, with growing pauses. */
const JOB_ATTEMPTS = 19

/**
 * Queues a job that runs once this transaction is committed. Of several waiting jobs with one key, one runs. Jobs with
 * the same `queue` run one after the other.
 */
export async function addJob<Name extends keyof Jobs>(
  db: HomeDb,
  name: Name,
  payload: Jobs[Name],
  key: string | null = null,
  queue: string | null = null,
): Promise<void> {
  await db.query(
    `select from graphile_worker.add_job($1, $2::json, max_attempts => $3, job_key => $4, job_key_mode => 'replace',
       queue_name => $5)`,
    [name, JSON.stringify(payload), JOB_ATTEMPTS, key, queue],
  )
}

/** Queues many in one statement. */
export async function addJobs<Name extends keyof Jobs>(
  db: HomeDb,
  name: Name,
  payload: readonly Jobs[Name][],
): Promise<void> {
  await db.query(
    `select graphile_worker.add_job($1, t::json, max_attempts => $3) from unnest($2::text[]) as t`,
    [name, payload.map((each) => JSON.stringify(each)), JOB_ATTEMPTS],
  )
}

/**
 * Queues a job for the next multiple of this many seconds. All processes compute the same time and key, so it runs
 * once.
 */
export async function addJobForTurn<Name extends keyof Jobs>(
  db: HomeDb,
  name: Name,
  payload: Jobs[Name],
  seconds: number,
): Promise<void> {
  await db.query(
    `select from (select to_timestamp((floor(extract(epoch from now()) / $4) + 1) * $4) as turn) t,
       graphile_worker.add_job($1, $2::json, max_attempts => $3, run_at => t.turn,
         job_key => $1 || ' ' || $4::text || ' ' || t.turn::text, job_key_mode => 'replace')`,
    [name, JSON.stringify(payload), JOB_ATTEMPTS, seconds],
  )
}

/** A background worker and its number when last seen. */
export interface WorkerBeat {
  id: string
  beats: number
}

/**
 * Reports these workers as alive and returns the numbers of all. Numbers start at random, so that a worker that was
 * considered dead and comes back is not mistaken for its former self.
 */
export async function beat(db: HomeDb, ids: readonly string[]): Promise<WorkerBeat[]> {
  await db.query(
    `insert into job_worker as w (id, beats) select id, (random() * 1e15)::bigint from unnest($1::text[]) as id
     on conflict (id) do update set beats = w.beats + 1`,
    [ids],
  )
  const { rows } = await db.query<WorkerBeat>('select id, beats from job_worker')
  return rows
}

/** Removes workers that have stopped, and frees the jobs of those that could not report theirs. */
export async function forgetWorkers(db: HomeDb, ids: readonly string[]): Promise<void> {
  await db.query(
    `with gone as (delete from job_worker where id = any($1::text[]))
     select graphile_worker.force_unlock_workers($1::text[])`,
    [ids],
  )
}

/** Frees the jobs of workers whose number has not changed since it was read; the others are alive after all. */
export async function freeJobsOf(db: HomeDb, dead: readonly WorkerBeat[]): Promise<void> {
  await db.query(
    `with gone as (delete from job_worker w using unnest($1::text[], $2::bigint[]) as d (id, beats)
       where w.id = d.id and w.beats = d.beats returning w.id)
     select graphile_worker.force_unlock_workers(array_agg(id)) from gone having count(*) > 0`,
    [dead.map(({ id }) => id), dead.map(({ beats }) => beats)],
  )
}

/** Whether this database already has job tables. */
export async function hasJobs(db: HomeDb): Promise<boolean> {
  const { rows } = await db.query<{ both: boolean }>(
    `select to_regclass('graphile_worker.jobs') is not null and to_regclass('job_worker') is not null as both`,
  )
  return rows[0]?.both === true
}

/** Frees all locked jobs, for a start without other processes. */
export async function freeAllJobs(db: HomeDb): Promise<void> {
  await db.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
     where locked_by is not null having count(*) > 0`,
  )
  await db.query('delete from job_worker')
}

/**
 * Frees jobs that were locked for so long that their worker must be dead, before it reported a number. graphile-worker
 * itself would wait four hours.
 */
export async function freeStrandedJobs(db: HomeDb, minutes: number): Promise<void> {
  await db.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
     where locked_at < now() - make_interval(mins => $1) having count(*) > 0`,
    [minutes],
  )
}
