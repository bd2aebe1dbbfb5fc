import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** a PostgreSQL in which tests may make databases of their own */
    postgresUrl: string
  }
}

/** One PostgreSQL for the whole run: the one that TOLLGATE_TEST_DATABASE_URL names, or an embedded one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TOLLGATE_TEST_DATABASE_URL
  if (given) {
    project.provide('postgresUrl', given)
    return async () => {}
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  // As root, PostgreSQL runs under another account, which must be able to get here.
  await chmod(dataDir, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} })
  const { host, port, user, database } = postgres.connection
  project.provide(
    'postgresUrl',
    `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`,
  )
  return async () => {
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
