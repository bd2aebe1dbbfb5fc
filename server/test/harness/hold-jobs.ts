import pg from 'pg'

/** No job of the service runs from now on. */
export async function holdJobs(connectionString: string): Promise<void> {
  const db = new pg.Client({ connectionString })
  await db.connect()
  await db.query(`
    create function never_run() returns trigger language plpgsql as
      $$ begin new.run_at := 'infinity'; return new; end $$;
    create trigger never_run before insert or update of run_at on graphile_worker._private_jobs
      for each row execute function never_run();
    update graphile_worker._private_jobs set run_at = 'infinity';`)
  await db.end()
}
