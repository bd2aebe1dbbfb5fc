import type { ProviderRef } from '../domain/provider-ref.ts'
import type { Db } from './database.ts'

/** What is done in the background, each with what it is told. */
export interface Jobs {
  'handle-notice': { appId: string; seq: number }
  'sync-checkout': ProviderRef
  'sync-subscription': ProviderRef
  'cancel-at-provider': ProviderRef
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

/** What a background worker was last seen at. */
export interface WorkerBeat {
  id: string
  beats: number
}

/**
 * Shows that these workers are alive; returns how all of them stand. A number begins anywhere: one that was taken for
 * dead and comes back stands nowhere that it was seen at before.
 */
export async function beat(db: Db, ids: readonly string[]): Promise<WorkerBeat[]> {
  await db.query(
    `insert into job_worker as w (id, beats) select id, (random() * 1e15)::bigint from unnest($1::text[]) as id
     on conflict (id) do update set beats = w.beats + 1`,
    [ids],
  )
  const { rows } = await db.query<WorkerBeat>('select id, beats from job_worker')
  return rows
}

/** Takes workers out that have stopped. */
export async function forgetWorkers(db: Db, ids: readonly string[]): Promise<void> {
  await db.query('delete from job_worker where id = any($1::text[])', [ids])
}

/** Frees the jobs of workers that still stand where they were seen; the others are alive after all. */
export async function freeJobsOf(db: Db, dead: readonly WorkerBeat[]): Promise<void> {
  await db.query(
    `with gone as (delete from job_worker w using unnest($1::text[], $2::bigint[]) as d (id, beats)
       where w.id = d.id and w.beats = d.beats returning w.id)
     select graphile_worker.force_unlock_workers(array_agg(id)) from gone having count(*) > 0`,
    [dead.map(({ id }) => id), dead.map(({ beats }) => beats)],
  )
}

/** Whether this database has had a service on it that keeps jobs and says whose they are. */
export async function hasJobs(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ both: boolean }>(
    `select to_regclass('graphile_worker.jobs') is not null and to_regclass('job_worker') is not null as both`,
  )
  return rows[0]?.both === true
}

/** Frees every job that somebody had in hand: for a start that finds no other process alive. */
export async function freeAllJobs(db: Db): Promise<void> {
  await db.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
     where locked_by is not null having count(*) > 0`,
  )
  await db.query('delete from job_worker')
}

/**
 * Jobs that nobody comes back for, whoever has them: a process of an earlier version shows no sign of life.
 * graphile-worker itself would wait for four hours.
 */
export async function freeStrandedJobs(db: Db, minutes: number): Promise<void> {
  await db.query(
    `select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
     where locked_at < now() - make_interval(mins => $1) having count(*) > 0`,
    [minutes],
  )
}
