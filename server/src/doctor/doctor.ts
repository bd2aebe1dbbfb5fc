import { setTimeout as delay } from 'node:timers/promises'
import type { Clocks } from '../domain/clocks.ts'
import { StartError } from '../domain/errors.ts'
import { type Config, readConfig } from '../settings/config.ts'
import { misspelt } from '../settings/unknown-settings.ts'
import { checkDataFolder, checkDiskSpace } from './data-folder.ts'
import { examineDatabase } from './database.ts'
import { CHECK_MS, type Finding, ok, problem, type Result, warning } from './finding.ts'
import { checkMemory, checkNode, checkOpenFiles, checkTemporaryFiles } from './host.ts'
import { checkListening, checkPublicUrl } from './listening.ts'
import { checkMasterKey } from './master-key.ts'
import { checkStripe } from './stripe.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Examines the installation that these settings describe. Nothing is changed. */
export async function examine(env: Env, clocks: Clocks, limitMs = CHECK_MS): Promise<Finding[]> {
  const host = [
    within(limitMs, 'Node.js', () => checkNode()),
    within(limitMs, 'Memory', () => checkMemory()),
    within(limitMs, 'Open files', () => checkOpenFiles()),
    within(limitMs, 'Temporary files', () => checkTemporaryFiles()),
  ]
  const config = configOf(env)
  if (config instanceof StartError)
    return (await Promise.all([...host, [{ check: 'Settings', ...problem(config.message, null) }]])).flat()
  return (
    await Promise.all([
      ...host,
      settingFindings(env),
      within(limitMs, 'Listening', () => checkListening(config)),
      within(limitMs, 'Public URL', () => checkPublicUrl(config)),
      within(limitMs, 'Data folder', () => checkDataFolder(config)),
      within(limitMs, 'Disk space', () => checkDiskSpace(config)),
      within(limitMs, 'Database', () => examineDatabase(config, clocks)),
      within(limitMs, 'Master key', () => checkMasterKey(config)),
      within(limitMs, 'Stripe', () => checkStripe(config)),
    ])
  ).flat()
}

function configOf(env: Env): Config | StartError {
  try {
    return readConfig(env)
  } catch (error) {
    if (error instanceof StartError) return error
    throw error
  }
}

function settingFindings(env: Env): Finding[] {
  const check = 'Settings'
  const lines = misspelt(env)
  if (lines.length === 0) return [{ check, ...ok('All settings are valid.') }]
  return lines.map((line) => ({ check, ...warning(line, 'Correct the name, or unset the variable.') }))
}

/** Runs a check. A check that throws or takes too long is reported as a problem. */
async function within(
  ms: number,
  check: string,
  run: () => Result | Promise<Result | Finding[]>,
): Promise<Finding[]> {
  const ended = new AbortController()
  const late = delay(ms, null, { signal: ended.signal }).catch(() => null)
  try {
    const found = await Promise.race([Promise.resolve().then(run), late])
    if (found === null)
      return [
        { check, ...problem(`There is no result after ${ms / 1000} s.`, 'Check the network and the disk.') },
      ]
    return Array.isArray(found) ? found : [{ check, ...found }]
  } catch (error) {
    return [{ check, ...problem(`The check failed: ${(error as Error).message}`, null) }]
  } finally {
    ended.abort()
  }
}
