import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import {
  createDatabase,
  createEmptyDatabase,
  directly,
  rowsOf,
  type TestDatabase,
} from '../harness/database.ts'
import { tablesNamed } from '../harness/one-cell.ts'
import { refusedStart, startTestServer } from '../harness/server.ts'

// What keeps the service from starting is reported in one line that says what to do, without a stack trace.

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function database(make: () => Promise<TestDatabase> = createDatabase): Promise<string> {
  const made = await make()
  cleanups.push(made.drop)
  // What PostgreSQL itself says.
  return directly(made.url)
}

const ask = (url: string, sql: string) => rowsOf({ connectionString: url }, sql)
const nameIn = (url: string) => new URL(url).pathname.slice(1)

/** The URL for a role of its own, which has no rights but those that everybody has. */
async function asStranger(url: string, options = ''): Promise<string> {
  const name = `stranger_${randomBytes(6).toString('hex')}`
  await ask(url, `create role ${name} login password 'secret' ${options}`)
  const server = inject('postgresUrl')
  cleanups.unshift(() => ask(server, `drop role ${name}`))
  const stranger = new URL(url)
  stranger.username = name
  stranger.password = 'secret'
  return stranger.href
}

const CASES: [string, () => Promise<string>, RegExp][] = [
  [
    'a schema of a newer version',
    async () => {
      const url = await database()
      await ask(url, `insert into schema_migration (name) values ('999-later')`)
      return url
    },
    /^The database was used by a newer version of Tollgate: its schema version is 999-later, but this version only supports up to \d{3}-[\w-]+\. Start the newer version\.$/,
  ],
  [
    'a schema from before 0.1.0',
    async () => {
      const url = await database(createEmptyDatabase)
      await ask(url, 'create table kysely_migration (name text, "timestamp" text)')
      return url
    },
    /^The database that DATABASE_URL points to was made by a version before 0\.1\.0, .* run npm run backup -- FILE in the checkout that made it, then npx tollgate restore FILE with this version, into an empty database or a new data folder\.$/,
  ],
  [
    'no right to create tables',
    async () => asStranger(await database(createEmptyDatabase)),
    /^The user in DATABASE_URL lacks privileges \(permission denied for schema public\)\. Make it the owner/,
  ],
  [
    'no right to the tables that there are',
    async () => asStranger(await database()),
    /^The user in DATABASE_URL lacks privileges \(permission denied for .+\)\. Make it the owner/,
  ],
  [
    'a database that takes no writes',
    async () => {
      const url = await database()
      await ask(url, `alter database ${nameIn(url)} set default_transaction_read_only = on`)
      return url
    },
    /^The database is read-only\. Turn off default_transaction_read_only/,
  ],
  [
    'a disk without space',
    async () => {
      const url = await database(createEmptyDatabase)
      await ask(
        url,
        `create function full_disk() returns event_trigger language plpgsql as $$ begin
           raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
         create event trigger full_disk on ddl_command_start execute function full_disk()`,
      )
      return url
    },
    /^The disk of the database is full \(could not extend file: No space left on device\)\. Free up space/,
  ],
  [
    'no connection free',
    async () => asStranger(await database(), 'connection limit 0'),
    /^The database has no free connections \(too many connections for role .+\)\. Increase max_connections/,
  ],
  [
    'a user that is not there',
    async () => {
      const url = new URL(await database())
      url.username = 'nobody_here'
      return url.href
    },
    /^The database rejected the connection \(role "nobody_here" does not exist\)|^The database rejected the password/,
  ],
  [
    'a database that is not there',
    async () => {
      const url = new URL(inject('postgresUrl'))
      url.pathname = '/not_there'
      return url.href
    },
    /^The database does not exist \(database "not_there" does not exist\)\. Create it, or check its name in DATABASE_URL\.$/,
  ],
  [
    'a restore that did not finish',
    async () => {
      const url = await database()
      await ask(url, 'create table tollgate_restore ()')
      return url
    },
    /^A restore into this database did not finish\. Restore again into an empty database\./,
  ],
]

describe('a start', () => {
  it.each(CASES)('is refused on %s', async (_, make, line) => {
    const error = await startTestServer({ databaseUrl: await make() }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StartError)
    expect((error as StartError).message).toMatch(line)
    expect((error as StartError).message).not.toContain('\n')
  })

  it('is refused over TLS by a database without it', async () => {
    const url = new URL(await database())
    const [{ ssl } = {}] = await rowsOf<{ ssl: string }>({ connectionString: url.href }, 'show ssl')
    if (ssl === 'on') return
    url.searchParams.set('sslmode', 'verify-full')
    await expect(startTestServer({ databaseUrl: url.href })).rejects.toThrow(
      /^The database is unreachable over TLS \(The server does not support SSL connections\)\. Check sslmode/,
    )
  })

  it('ends the process with that line alone', async () => {
    const url = await database()
    await ask(url, `insert into schema_migration (name) values ('999-later')`)
    const { code, stdout, stderr } = await refusedStart({ DATABASE_URL: url })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^tollgate: The database was used by a newer version of Tollgate: .*\n$/)
  })
})

it('keeps working while a newer version migrates the schema', async () => {
  const databaseUrl = await database()
  const server = await startTestServer({ databaseUrl })
  cleanups.push(server.stop)
  await ask(databaseUrl, `insert into schema_migration (name) values ('999-later')`)
  for (const table of await tablesNamed(databaseUrl, 'users'))
    await ask(databaseUrl, `alter table ${table} add more text`)
  expect(await server.admin.data('mutation { createUser(input: { id: "ann" }) { id } }')).toEqual({
    createUser: { id: 'ann' },
  })
})
