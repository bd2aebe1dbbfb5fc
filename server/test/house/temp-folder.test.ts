import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const MODULE = fileURLToPath(new URL('../harness/temp-folder.ts', import.meta.url))

/** Says where its temporary files go, makes one, and stays until it is told to end. */
const PROGRAM = `
  const { ownTempFolder } = await import(${JSON.stringify(MODULE)})
  const { mkdtempSync } = await import('node:fs')
  const { tmpdir } = await import('node:os')
  ownTempFolder()
  ownTempFolder()
  mkdtempSync(tmpdir() + '/something-')
  process.stdout.write(tmpdir())
  process.stdin.on('end', () => process.exit()).resume()
`

let parent: string
beforeAll(() => {
  // Not below the folder of this run, where it would make none.
  const outside = tmpdir().includes('tollgate-run-') ? dirname(tmpdir()) : tmpdir()
  parent = mkdtempSync(join(outside, 'tollgate-temp-'))
})
afterAll(() => rmSync(parent, { recursive: true, force: true }))

async function start() {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM], {
    env: { ...process.env, TMPDIR: parent },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [folder] = await once(child.stdout, 'data')
  return { child, ended, folder: String(folder) }
}

describe('the temporary files of a run', () => {
  it('are in one folder that goes with it, or with the next run if it was killed', async () => {
    const [killed, running] = await Promise.all([start(), start()])
    expect(dirname(killed.folder)).toBe(parent)
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(existsSync(killed.folder)).toBe(true)

    const next = await start()
    expect(existsSync(killed.folder)).toBe(false)
    expect(existsSync(running.folder)).toBe(true)
    expect(basename(next.folder)).toContain(String(next.child.pid))

    running.child.stdin.end()
    next.child.kill('SIGHUP')
    await Promise.all([running.ended, next.ended])
    expect([running, next].filter(({ folder }) => existsSync(folder))).toEqual([])
  })
})
