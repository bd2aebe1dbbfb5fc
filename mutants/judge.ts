import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Order, Outcome, Trial } from './test-process.ts'

export type Verdict = { killedBy: string } | 'survived' | 'timed out'

const TEST_PROCESS = fileURLToPath(new URL('test-process.ts', import.meta.url))
const START_MS = 180_000

/** Runs tests against mutants in a process of its own, which it starts again where a mutant has made it hang. */
export class Judge {
  readonly #databaseUrl: string
  #child: ChildProcess | null = null
  #complaints = ''

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl
  }

  /** `quietMs`: how long no test may come to an end before it is taken to hang. */
  async judge(trials: readonly Trial[], quietMs: number): Promise<Verdict[]> {
    const verdicts: Verdict[] = []
    while (verdicts.length < trials.length) {
      const rest = trials.slice(verdicts.length)
      const { failed, hanging, uncaught } = await this.#answer({ trials: rest, quietMs })
      // Whose error it was can only be told of one alone.
      if (uncaught !== null && rest.length > 1) {
        for (const trial of rest) verdicts.push(...(await this.judge([trial], quietMs)))
        continue
      }
      for (const test of failed) verdicts.push(verdictOf(test ?? uncaught))
      if (hanging === null) continue
      verdicts.push('timed out')
      await this.stop()
    }
    return verdicts
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    // With its workers, which a mutant may keep from ever listening.
    process.kill(-child.pid, 'SIGKILL')
    await gone
  }

  async #answer(order: Order): Promise<Outcome> {
    const child = await this.#started()
    child.send(order)
    const answer = await messageOf(child)
    if (typeof answer === 'object' && answer !== null) return answer
    await this.stop()
    throw new Error(
      typeof answer === 'string' ? answer : `the process of the tests ended: ${this.#complaints}`,
    )
  }

  async #started(): Promise<ChildProcess> {
    if (this.#child?.connected) return this.#child
    const child = fork(TEST_PROCESS, {
      // A group of its own, to be ended as a whole.
      detached: true,
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, TOLLGATE_TEST_DATABASE_URL: this.#databaseUrl },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#child = child
    this.#complaints = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaints = (this.#complaints + chunk.toString()).slice(-4_000)
    })
    const ready = await messageOf(child, START_MS)
    if (ready !== 'ready') throw new Error(`the tests did not start: ${this.#complaints}`)
    return child
  }
}

const verdictOf = (failed: string | null): Verdict => (failed === null ? 'survived' : { killedBy: failed })

/** What it says next; null: it has ended instead, or says nothing in time. */
async function messageOf(child: ChildProcess, ms = Infinity): Promise<Outcome | string | null> {
  const over = new AbortController()
  const { signal } = over
  const timer = ms === Infinity ? undefined : setTimeout(() => over.abort(), ms)
  try {
    const said = once(child, 'message', { signal }).then(([message]) => message)
    return await Promise.race([said, once(child, 'exit', { signal }).then(() => null)])
  } catch (error) {
    if (signal.aborted) return null
    throw error
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}
