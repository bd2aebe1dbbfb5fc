import type { EventsArguments } from './call-arguments.ts'
import { type CallError, isOutage } from './errors.ts'
import type { Event, EventPage, Result } from './types.ts'

/** Wait for further events at the end of the log, and before the first retry while the service is unreachable. */
const WAIT_MS = 1_000
const MAX_WAIT_MS = 30_000

/**
 * Events as `events` returns them. Awaited, it is one page. Iterated over, it is all events after `after`, and then those
 * that happen, until the loop is left or the `signal` of the call is aborted. While the service is unreachable the
 * iteration waits; other errors are thrown. Each event has a `cursor`: store it, and pass it as `after` to resume.
 */
export class EventStream implements PromiseLike<Result<EventPage>>, AsyncIterable<Event> {
  readonly #args: EventsArguments
  readonly #read: (args: EventsArguments) => Promise<Result<EventPage>>
  readonly #signal: AbortSignal | undefined

  /** @internal Returned by `events`. */
  constructor(
    args: EventsArguments,
    read: (args: EventsArguments) => Promise<Result<EventPage>>,
    signal: AbortSignal | undefined,
  ) {
    this.#args = args
    this.#read = read
    this.#signal = signal
  }

  /** Requests one page. */
  // biome-ignore lint/suspicious/noThenProperty: it can be awaited
  then<Done = Result<EventPage>, Failed = never>(
    done?: ((page: Result<EventPage>) => Done | PromiseLike<Done>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return this.#read(this.#args).then(done, failed)
  }

  /** Requests pages, each when the previous one has been iterated over. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    let args = this.#args
    for (let failures = 0; !this.#signal?.aborted; ) {
      const { data, error } = await this.#read(args)
      if (this.#signal?.aborted) return
      if (error && !isPassing(error)) throw error
      failures = error ? failures + 1 : 0
      if (data) {
        args = { ...args, after: data.next }
        yield* data.nodes
      }
      if (!data || data.nodes.length === 0) await this.#wait(failures)
    }
  }

  /** Ends early when the signal is aborted. */
  #wait(failures: number): Promise<void> {
    const signal = this.#signal
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, Math.min(WAIT_MS * 2 ** Math.max(0, failures - 1), MAX_WAIT_MS))
      signal?.addEventListener('abort', end)
    })
  }
}

const isPassing = (error: CallError): boolean => isOutage(error) || error.code === 'RATE_LIMITED'
