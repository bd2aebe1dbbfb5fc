import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { start } from '../../bench/processes.ts'
import { keepLedger } from '../../server/src/operations/upkeep/keep-ledger.ts'
import { openPool, type Pool } from '../../server/src/store/connection/database.ts'
import { unbalancedCounters } from '../../server/src/store/schema/tables.ts'
import type { Trial } from '../trial.ts'
import { buildService, ROOT } from './build.ts'
import { keepDoing, onPool } from './cells.ts'

const MAX_ATTEMPTS = 10

/**
 * Has the ledgers of all cells be archived, again and again: the next partition is opened, and `ledger archive` moves all
 * others into files, unless it is killed with SIGKILL meanwhile.
 */
export class Archiving {
  readonly #trial: Trial
  readonly #url: string
  readonly #tools: string
  readonly #folder: string
  #attempts = 0

  static async make(trial: Trial, url: string): Promise<Archiving> {
    const tools = await buildService('tools', undefined, ROOT, 'tools/data-tools')
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-proof-archives-'))
    trial.atEnd(() => rm(folder, { recursive: true, force: true }))
    return new Archiving(trial, url, tools, folder)
  }

  private constructor(trial: Trial, url: string, tools: string, folder: string) {
    this.#trial = trial
    this.#url = url
    this.#tools = tools
    this.#folder = folder
  }

  keepOn() {
    const { random } = this.#trial
    return keepDoing(async (stopping) => {
      const killing = AbortSignal.any([
        stopping,
        ...(random.next() < 0.25 ? [AbortSignal.timeout(random.int(500, 4_000))] : []),
      ])
      const done = await this.#archive(killing).catch(() => false)
      if (done) this.#trial.count('archives')
      else this.#trial.count(killing.aborted ? 'archives killed' : 'interrupted archives')
      await sleep(random.int(100, 1_500), undefined, { signal: stopping }).catch(() => {})
    })
  }

  /** Archives what is left, now that nothing is in the way; returns the files that count. */
  async finish(): Promise<string[]> {
    const never = new AbortController().signal
    let done = false
    for (let attempt = 1; !done && attempt <= MAX_ATTEMPTS; attempt++) {
      done = await this.#archive(never).catch(() => false)
      if (!done) await sleep(1_000)
    }
    if (!done) this.#trial.fault('no recovery', 'the ledgers could not be archived in the end')
    return onPool(this.#url, async (pool) => {
      const unbalanced = await unbalancedCounters(pool)
      this.#trial.fault('counter mismatch', 'a counter differs from its entries and sums', unbalanced)
      const files: string[] = []
      for (const schema of await schemasOf(pool)) {
        const { rows } = await pool.query<{ file: string }>(
          `select file from ${schema}.ledger_partition where retired_at is not null`,
        )
        files.push(...rows.map(({ file }) => file))
      }
      this.#trial.count('partitions archived', files.length)
      return files
    })
  }

  async #archive(killing: AbortSignal): Promise<boolean> {
    // If it cannot be opened now, there may be one from before.
    await this.#openNext(killing).catch(() => {})
    // A file that a killed attempt has left may have entries that were moved since.
    const folder = join(this.#folder, String(++this.#attempts))
    const args = [this.#tools, 'ledger', 'archive', '--to', folder, '--older-than', '0']
    const child = start(process.execPath, args, { DATABASE_URL: this.#url })
    const kill = () => child.process.kill('SIGKILL')
    if (killing.aborted) kill()
    else killing.addEventListener('abort', kill)
    const code = await child.exited
    killing.removeEventListener('abort', kill)
    return code === 0
  }

  async #openNext(stopping: AbortSignal): Promise<void> {
    const open = (schema: string) =>
      openPool(
        { connectionString: this.#url },
        { max: 2, searchPath: `${schema}, public` },
        pino({ level: 'silent' }),
      )
    const ledgers = (await onPool(this.#url, schemasOf)).map(open) as [Pool, ...Pool[]]
    await keepLedger(ledgers, { partitionSeconds: 0, keptSeconds: null }, stopping).finally(() =>
      Promise.all(ledgers.map((ledger) => ledger.end())),
    )
  }
}

async function schemasOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ schema: string }>('select schema from cell order by id')
  return rows.map(({ schema }) => schema)
}
