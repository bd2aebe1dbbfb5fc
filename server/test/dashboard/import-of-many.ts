import { deepStrictEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, Data } from '../harness/client.ts'

/** A service with this many users in the app `default`, from `u0` on. */
export interface Crowd {
  users: number
  url: string
  /** the owner's session */
  dashboard: Client
  /** of the service's process */
  pid: number | undefined
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>
}

/** So that it collects its garbage soon: what it lets lie otherwise depends on how busy the machine is. */
export const V8_LIMITS = '--max-old-space-size=64 --max-semi-space-size=2'
const MOST_MB = 80

type Kind = 'changed' | 'unchanged' | 'BAD_EMAIL' | 'UNKNOWN_USER' | 'BILLING_ID_TAKEN' | 'DUPLICATE_ID'

function kindOf(i: number): Kind {
  if (i % 1000 === 1) return 'BAD_EMAIL'
  if (i % 1000 === 2) return 'UNKNOWN_USER'
  if (i % 1000 === 3) return 'BILLING_ID_TAKEN'
  // The one before names the same.
  if (i % 1000 === 5) return 'DUPLICATE_ID'
  return i % 2 === 0 ? 'changed' : 'unchanged'
}

// Long enough that holding them all would be seen.
const DOMAIN = `${'x'.repeat(200)}.example`
const ROWS: Record<Kind, (i: number) => string> = {
  changed: (i) => `u${i},u${i}@${DOMAIN},new_${i}`,
  unchanged: (i) => `u${i},u${i}@old.example,`,
  BAD_EMAIL: (i) => `u${i},none,`,
  UNKNOWN_USER: (i) => `nobody${i},n@${DOMAIN},`,
  BILLING_ID_TAKEN: (i) => `u${i},,old_${i + 1}`,
  DUPLICATE_ID: (i) => `u${i - 1},again@${DOMAIN},`,
}

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

export async function fillCrowd({ sql, users }: Pick<Crowd, 'sql' | 'users'>): Promise<void> {
  await sql(
    `insert into users (app_id, id, email, billing_id, metadata)
     select 'default', 'u' || i, 'u' || i || '@old.example', 'old_' || i, '{}' from generate_series(0, $1::int - 1) i
     order by i`,
    [users],
  )
}

/** A file with a row for each user: checked, applied and undone. Throws at whatever is not as the file says. */
export async function importMany(crowd: Crowd): Promise<void> {
  const { users, dashboard, sql } = crowd
  const of = (kind: Kind) => numbers(users).filter((i) => kindOf(i) === kind)
  const changed = of('changed').length
  const bad = numbers(users).filter((i) => !['changed', 'unchanged'].includes(kindOf(i)))
  const counts = { rows: users, changed, unchanged: of('unchanged').length, bad: bad.length }
  const file = ['id,email,billingId', ...numbers(users).map((i) => ROWS[kindOf(i)](i))].join('\n')
  await withinMb(crowd.pid, MOST_MB, async () => {
    const { badRows, ...answer } = await upload(crowd, file)
    deepStrictEqual({ ...answer, ...counts, status: 200, badRowsLeftOut: 0 }, answer)
    // The first row is on the second line.
    const told = bad.map((i) => `${i + 2} ${kindOf(i)}`)
    deepStrictEqual(
      badRows.map((row: Data) => `${row.line} ${row.problem}`),
      told,
    )
    deepStrictEqual(await usersNow(crowd), { changed: 0, old: users })

    // One is changed meanwhile, and one billing id is taken.
    await sql(`update users set email = 'meanwhile@x.example' where id = 'u10'`)
    await sql(`update users set billing_id = 'new_12' where id = 'u11'`)
    const applied = { ...counts, applied: changed - 2, refused: 2, undone: 0, kept: 0 }
    deepStrictEqual(await move(crowd, 'applyUserImport'), { state: 'APPLIED', ...applied })
    deepStrictEqual(await usersNow(crowd), { changed: changed - 2, old: users - changed })

    await sql(`update users set email = 'later@x.example' where id = 'u20'`)
    const undone = { undone: changed - 3, kept: 1 }
    deepStrictEqual(await move(crowd, 'undoUserImport'), { state: 'UNDONE', ...applied, ...undone })
    deepStrictEqual(await usersNow(crowd), { changed: 0, old: users - 3 })
  })
  const rows = await dashboard.data(`{
    refused: userImportRows(appId: "default", id: "many", outcome: REFUSED) { rows { userId problem } }
    kept: userImportRows(appId: "default", id: "many", outcome: KEPT) { rows { userId problem } }
    applied: userImportRows(appId: "default", id: "many", outcome: APPLIED) { rows { line } }
  }`)
  deepStrictEqual(rows, {
    refused: {
      rows: [
        { userId: 'u10', problem: 'CHANGED_SINCE' },
        { userId: 'u12', problem: 'BILLING_ID_TAKEN' },
      ],
    },
    kept: { rows: [{ userId: 'u20', problem: 'CHANGED_SINCE' }] },
    applied: { rows: [] },
  })
}

async function upload({ url, dashboard }: Crowd, file: string): Promise<Data> {
  const query = new URLSearchParams({ app: 'default', import: 'many', dryRun: '1' })
  const response = await fetch(`${url}/dashboard/import/users?${query}`, {
    method: 'POST',
    headers: { Cookie: dashboard.headers.Cookie ?? '', 'Content-Type': 'text/csv' },
    body: file,
  })
  return { status: response.status, ...((await response.json()) as Data) }
}

async function usersNow({ sql }: Crowd): Promise<{ changed: number; old: number }> {
  const [row] = await sql<{ changed: string; old: string }>(
    `select count(*) filter (where email = id || '@' || $1 and billing_id = 'new_' || substr(id, 2)) as changed,
       count(*) filter (where email = id || '@old.example' and billing_id = 'old_' || substr(id, 2)) as old
     from users where app_id = 'default'`,
    [DOMAIN],
  )
  return { changed: Number(row?.changed), old: Number(row?.old) }
}

/** Starts it and waits until it is through. */
async function move({ dashboard }: Crowd, mutation: string): Promise<Data> {
  await dashboard.data(`mutation { ${mutation}(appId: "default", id: "many") { state } }`)
  for (;;) {
    const userImport = await dashboard.call(
      'userImport { state rows bad unchanged changed applied refused undone kept }',
      { appId: 'default', id: 'many' },
    )
    if (!/ING$/.test(userImport.state)) return userImport
    await delay(50)
  }
}

/** Does it, and throws if the process held that much more than before. */
export async function withinMb<T>(pid: number | undefined, most: number, work: () => Promise<T>): Promise<T> {
  const before = peakMb(pid)
  const result = await work()
  const after = peakMb(pid)
  if (before !== null && after !== null && after - before >= most) {
    throw new Error(`it grew by ${(after - before).toFixed(0)} MB, of at most ${most}`)
  }
  return result
}

/** The most that the process ever held, where the system tells. */
function peakMb(pid: number | undefined): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  } catch {
    return null
  }
}
