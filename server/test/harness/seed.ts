import { rowsOf, UNREPORTED } from './database.ts'

/** Users u1, u2, …, each with one subscription; the first has as many once more, which have ended. */
export async function seedUsers(
  databaseUrl: string,
  appId: string,
  size: number,
  bytesEach = 1,
): Promise<void> {
  const run = (sql: string, values: unknown[]) =>
    rowsOf({ connectionString: databaseUrl, ...UNREPORTED }, sql, values)
  await run(
    `insert into users (app_id, id, metadata) select $1, 'u' || i, json_build_object('pad', repeat('x', $3::int))
     from generate_series(1, $2::int) i order by i`,
    [appId, size, bytesEach],
  )
  const insert = (from: string, ended: string) =>
    `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancelled_at)
     select $1, ${from}, 'plan', false, now(), now(), ${ended}`
  await run(`${insert(`'s' || substr(id, 2), uid`, 'null')} from users where app_id = $1 order by uid`, [
    appId,
  ])
  await run(
    `${insert(`'old' || i, uid`, 'now()')} from generate_series(1, $2::int) i, users u
     where u.app_id = $1 and u.id = 'u1' order by i`,
    [appId, size],
  )
}
