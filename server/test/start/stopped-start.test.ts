import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type DataFolder, makeDataFolder } from '../harness/data-folder.ts'
import { MAIN } from '../harness/server.ts'
import { BARE } from '../harness/starts.ts'

let folder: DataFolder
beforeEach(async () => {
  folder = await makeDataFolder()
})
afterEach(() => folder.remove())

it('gap: starting: Ctrl-C during the first start, which also ends initdb, is one line', async () => {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      TMPDIR: process.env.TMPDIR,
      ...BARE,
      PORT: '0',
      TOLLGATE_DATA_DIR: folder.path,
      TOLLGATE_LOG_FORMAT: 'text',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // As a terminal does it: the signal goes to the whole group.
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const ended = once(child, 'close')
  // Only initdb has written this.
  const underWay = async () =>
    (await readdir(folder.path)).some((name) => existsSync(join(folder.path, name, 'PG_VERSION')))
  await expect.poll(underWay, { timeout: 60_000, interval: 5 }).toBe(true)
  process.kill(-(child.pid ?? 0), 'SIGINT')
  expect(await ended).toEqual([0, null])
  expect(output.split('\n').at(-2)).toMatch(/^\S+ info {2}stopping signal=SIGINT$/)
})
