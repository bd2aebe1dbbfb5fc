import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Variables } from '../../server/test/harness/client.ts'
import type { Trial } from '../trial.ts'
import { API_KEY } from './node.ts'

/** The default deadline of a request. */
export const DEADLINE_MS = 10_000
/** Extra time for a busy machine. */
export const ALLOWANCE_MS = 2_500

/** What a caller got: an answer, or null if the connection failed. */
export type Outcome = Answer | null

/** Calls as an application would, and checks every call's deadline. */
export class Caller {
  readonly #trial: Trial
  readonly #deadline: number
  // Closed long before the service would: one that it closes while we write is a failed call.
  readonly #agent = new Agent({ keepAlive: true, timeout: 1_000 })

  constructor(trial: Trial, deadline = DEADLINE_MS) {
    this.#trial = trial
    this.#deadline = deadline
    trial.atEnd(async () => this.#agent.destroy())
  }

  ask(
    url: string,
    query: string,
    variables: Variables,
    headers: Record<string, string> = {},
  ): Promise<Outcome> {
    const body = JSON.stringify({ query, variables })
    const began = performance.now()
    return new Promise((resolve) => {
      const asked = request(
        `${url}/graphql`,
        {
          agent: this.#agent,
          method: 'POST',
          headers: {
            Authorization: API_KEY,
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
            ...headers,
          },
        },
        (response) => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => {
            text += chunk
          })
          response.on('end', () => finish(answerOf(response.statusCode ?? 0, text)))
          response.on('error', () => finish(null))
          response.on('close', () => finish(null))
        },
      )
      const late = setTimeout(() => {
        this.#trial.fault(
          'unanswered',
          `no answer in ${this.#deadline + ALLOWANCE_MS} ms: ${body.slice(0, 200)}`,
        )
        finish(null)
        asked.destroy()
      }, this.#deadline + ALLOWANCE_MS)
      let done = false
      const finish = (outcome: Outcome) => {
        if (done) return
        done = true
        clearTimeout(late)
        if (outcome) this.#trial.answered(performance.now() - began)
        resolve(outcome)
      }
      asked.on('error', () => finish(null))
      asked.end(body)
    })
  }
}

function answerOf(status: number, text: string): Outcome {
  try {
    return { status, ...JSON.parse(text) }
  } catch {
    // Cut off in the middle.
    return null
  }
}

/** The code of an answer's first error. */
export const codeOf = (outcome: Outcome): string | undefined => outcome?.errors?.[0]?.extensions.code

/** Answers allowed while something is down: the caller should retry. */
export const isPassing = (outcome: Outcome): boolean =>
  outcome === null || ['UNAVAILABLE', 'RATE_LIMITED'].includes(codeOf(outcome) ?? '')

/** Waits for the number of acknowledged calls; false if it is not reached in time. */
export async function hasAcknowledged(
  calls: { readonly acknowledged: number },
  goal: number,
  withinMs = 60_000,
): Promise<boolean> {
  const began = performance.now()
  while (calls.acknowledged < goal) {
    if (performance.now() - began > withinMs) return false
    await sleep(5)
  }
  return true
}
