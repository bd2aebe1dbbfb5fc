/** What becomes of a request: `refused` never arrives, `lost` takes effect and its answer does not arrive. */
export type Fate = 'pass' | 'refused' | 'lost'

export interface Seen {
  operation: string
  key: string | null
  variables: Record<string, unknown>
}

interface Held {
  id: string
  reserved: number
  settled: number
  state: string
}

/** As much of the service as reservations of one user need: room, replays by key, and faults to order. */
export class ReservingService {
  room: number
  /** every request, in the order of arrival at the client's network */
  readonly seen: Seen[] = []
  readonly reservations = new Map<string, Held>()
  fate: (request: Seen) => Fate = () => 'pass'
  /** called when an answer has been made */
  answered: (request: Seen) => void = () => {}
  readonly #answers = new Map<string, object>()

  constructor(room: number) {
    this.room = room
  }

  /** The operations that were asked for, with the units they were about. */
  get asked(): string[] {
    return this.seen.map(({ operation, variables }) => {
      const { amount, add } = (variables.input ?? variables) as { amount?: number; add?: number }
      return [operation, amount ?? add].filter((part) => part !== undefined).join(' ')
    })
  }

  readonly fetch: typeof globalThis.fetch = async (_, init) => {
    const { query, variables } = JSON.parse(String(init?.body)) as { query: string; variables: string }
    const operation = /\{\s*(\w+)/.exec(query)?.[1] ?? ''
    const key = new Headers(init?.headers).get('Idempotency-Key')
    const request = { operation, key, variables: JSON.parse(variables) as Record<string, unknown> }
    this.seen.push(request)
    const fate = this.fate(request)
    const failure = (code: string) =>
      Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) })
    if (fate === 'refused') throw failure('ECONNREFUSED')
    const answer = (key && this.#answers.get(key)) || this.#answer(request)
    if (key) this.#answers.set(key, answer)
    this.answered(request)
    if (fate === 'lost') throw failure('ECONNRESET')
    return Response.json(answer)
  }

  #answer({ operation, variables }: Seen): object {
    const input = (variables.input ?? variables) as {
      id: string
      amount: number
      atLeast?: number
      add?: number
    }
    if (operation === 'reserveUsage') {
      const known = this.reservations.get(input.id)
      if (known) return data(operation, known, null)
      const reserved = Math.min(input.amount, this.room)
      if (reserved < (input.atLeast ?? input.amount))
        return data(operation, { id: input.id, reserved: 0, settled: 0, state: 'RELEASED' }, 'Limit reached')
      this.room -= reserved
      const held = { id: input.id, reserved, settled: 0, state: 'HELD' }
      this.reservations.set(input.id, held)
      return data(operation, held, null)
    }
    const held = this.reservations.get(input.id)
    if (!held) return error('RESERVATION_NOT_FOUND')
    if (held.state !== 'HELD') return error('CONFLICT')
    if (operation === 'extendReservation') {
      const add = input.add ?? 0
      if (add > this.room) return data(operation, held, 'Limit reached')
      this.room -= add
      held.reserved += add
      return data(operation, held, null)
    }
    const used = operation === 'settleReservation' ? input.amount : 0
    this.room += held.reserved - used
    Object.assign(held, { reserved: 0, settled: used, state: used > 0 ? 'SETTLED' : 'RELEASED' })
    return data(operation, held, null)
  }
}

const data = (operation: string, held: Held, reason: string | null): object => ({
  data: { [operation]: { ...held, reason } },
})

const error = (code: string): object => ({ errors: [{ message: code, extensions: { code } }] })
