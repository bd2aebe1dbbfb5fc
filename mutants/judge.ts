import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Done, Order, Outcome, Trial } from './test-process.ts'

export type Verdict = { killedBy: string } | 'survived' | 'timed out'

const TEST_PROCESS = fileURLToPath(new URL('test-process.ts', import.meta.url))
const START_MS = 180_000

/** What fails may leave a server running; after so many of them a new process is worth its start. */
const MOST_FAILED = 40

/** Runs tests against mutants in a process of its own, which it starts again where a mutant has made it hang. */
export class Judge {
  readonly #databaseUrl: string
  #child: ChildProcess | null = null
  #complaints = ''
  #failed = 0

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl
  }

  /** `quietMs`: how long no test may come to an end before it is taken to hang. */
  async judge(trials: readonly Trial[], quietMs: number): Promise<(Done | 'timed out')[]> {
    const results: (Done | 'timed out')[] = []
    while (results.length < trials.length) {
      const rest = trials.slice(results.length)
      const { done, hangs, uncaught } = await this.#answer({ trials: rest, quietMs })
      // Whose error it was can only be told of one alone.
      if (uncaught !== null && rest.length > 1) {
        for (const trial of rest) results.push(...(await this.judge([trial], quietMs)))
        continue
      }
      for (const one of done) results.push({ ...one, failed: one.failed ?? uncaught })
      this.#failed += done.filter(({ failed }) => failed !== null).length
      if (hangs) results.push('timed out')
      if (hangs || this.#failed > MOST_FAILED) await this.stop()
    }
    return results
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    this.#failed = 0
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
