import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import type { DataFolder } from '../harness/data-folder.ts'
import { freePort } from '../harness/free-port.ts'
import { API_KEY, adminClient } from '../harness/server.ts'
import { usedDataFolder } from '../harness/used-data.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

let folder: DataFolder | undefined
/** The group of the process and all that it started; PostgreSQL has one of its own. */
let group: number | undefined
afterEach(async () => {
  if (isThere()) process.kill(-(group ?? 0), 'SIGKILL')
  await folder?.remove()
})

function isThere(): boolean {
  if (group === undefined) return false
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}

describe('npm run dev', () => {
  it('serves the pages from their sources before the service from its own, and ends with both', async () => {
    folder = await usedDataFolder()
    const child = spawn('npm', ['run', 'dev', '--silent'], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        NO_COLOR: '1',
        PORT: await freePort(),
        TOLLGATE_DATA_DIR: folder.path,
        TOLLGATE_API_KEY: API_KEY,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    group = child.pid
    let output = ''
    const url = await new Promise<string>((resolve, reject) => {
      const take = (chunk: Buffer) => {
        output += chunk.toString()
        const pages = /Local:\s+(http:\/\/localhost:\d+)/.exec(output)?.[1]
        if (pages && output.includes('Tollgate is ready')) resolve(pages)
      }
      child.stdout.on('data', take)
      child.stderr.on('data', take)
      child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${output}`)))
    })

    expect(await (await fetch(url)).text()).toContain('src="/src/main.tsx"')
    expect(await (await fetch(`${url}/src/main.tsx`)).text()).toContain('createRoot')
    expect(await adminClient(url, API_KEY).data('{ features { id } }')).toEqual({ features: [] })

    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
    await expect.poll(isThere).toBe(false)
    expect(await folder.postmaster()).toBeNull()
  })
})
