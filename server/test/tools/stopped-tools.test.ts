import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { createDatabase, directly, rowsOf, withConnection } from '../harness/database.ts'

const TOOLS = fileURLToPath(new URL('../../dist/data-tools.js', import.meta.url))

it('gap: a backup that waits for a lock ends when it is told to, and leaves no file', async () => {
  const database = await createDatabase()
  const connectionString = directly(database.url)
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-stopped-'))
  const file = join(folder, 'backup')
  try {
    await withConnection({ connectionString }, async (holder) => {
      await holder.query('begin; lock table app in access exclusive mode')
      const backup = spawn(process.execPath, [TOOLS, 'backup', file], {
        env: { PATH: process.env.PATH, DATABASE_URL: connectionString },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const said: Buffer[] = []
      backup.stderr.on('data', (chunk: Buffer) => said.push(chunk))
      const ended = once(backup, 'exit')
      await vi.waitUntil(
        async () =>
          (
            await rowsOf(
              { connectionString },
              `select from pg_stat_activity where application_name = 'tollgate-tools' and wait_event_type = 'Lock'`,
            )
          ).length > 0,
        60_000,
      )
      backup.kill('SIGTERM')
      expect((await ended)[0]).toBe(143)
      expect(Buffer.concat(said).toString()).toContain('Stopped; nothing was saved.')
      expect(existsSync(file)).toBe(false)
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
    await database.drop()
  }
})
