/** One call: what it asked, what it was answered, and when it was under way. */
export interface Recorded<Ask, Answer> {
  asked: Ask
  answer: Answer
  begun: number
  ended: number
}

/**
 * The state after a call that is made in a given state; null: it would not be answered so. `idle` is a call that with
 * this answer changes no state.
 */
export type Step<State, Ask, Answer> = (
  state: State,
  ask: Ask,
  answer: Answer,
) => { after: State; idle: boolean } | null

/** Of a history that has an order a few are met; more take minutes and gigabytes, and say that the rules tell too little. */
const MOST_DEAD_ENDS = 200_000

/**
 * A serial order of the calls that explains every answer: no call comes before one that had ended when it began, and
 * each gets, in that order, the answer it got. Null when there is none. The search is that of Wing and Gong, with
 * what was found to lead nowhere remembered by the set of calls made and the state.
 */
export function serialOrder<State extends number | string, Ask, Answer>(
  history: readonly Recorded<Ask, Answer>[],
  initial: State,
  stepOf: Step<State, Ask, Answer>,
): number[] | null {
  const calls = history.map((call, i) => ({ ...call, i })).sort((a, b) => a.begun - b.begun)
  const made = new Set<(typeof calls)[number]>()
  const order: number[] = []
  const deadEnds = new Set<string>()
  return search(initial, 0) ? order : null

  /** All calls before `from` are made. */
  function search(state: State, from: number): boolean {
    let first = from
    for (let call = calls[first]; call && made.has(call); call = calls[++first]);
    if (first === calls.length) return true
    const { next, name } = possible(state, first)
    if (deadEnds.has(name)) return false
    for (const { call, after, idle } of next) {
      made.add(call)
      order.push(call.i)
      if (search(after, first)) return true
      order.pop()
      made.delete(call)
      // An idle call may as well come now as later: if the rest has no order after it, it has none.
      if (idle) break
    }
    deadEnds.add(name)
    if (deadEnds.size > MOST_DEAD_ENDS) throw new Error('too many orders to try')
    return false
  }

  /** The calls that may come next, idle ones first, and a name for where we are. */
  function possible(state: State, first: number) {
    let name = `${state} ${first} `
    let firstEnd = Number.POSITIVE_INFINITY
    const next: { call: (typeof calls)[number]; after: State; idle: boolean }[] = []
    for (let at = first; at < calls.length; at++) {
      const call = calls[at]
      // Whatever begins later comes after a call that is still to be made.
      if (!call || call.begun > firstEnd) break
      name += made.has(call) ? 1 : 0
      if (made.has(call)) continue
      firstEnd = Math.min(firstEnd, call.ended)
      const step = stepOf(state, call.asked, call.answer)
      if (step) next.push({ call, ...step })
    }
    return { next: next.sort((a, b) => Number(b.idle) - Number(a.idle)), name }
  }
}
