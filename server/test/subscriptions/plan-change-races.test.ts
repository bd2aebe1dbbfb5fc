import { beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../harness/database.ts'
import { serialOrder } from '../harness/serial-order.ts'
import { openServers } from '../harness/servers.ts'
import { shared } from '../harness/shared.ts'
import { seeded } from '../stripe/random.ts'
import { startStripe } from '../stripe/stand-in.ts'
import { furnishRaces, type RacedCall, type RacedWorld, raceOf, ruleOf } from './plan-races.ts'

// A short selection of the proof's scenario `plans`, which has 300 users.

const USERS = Number(process.env.TOLLGATE_RACED_USERS ?? 2)
/** Users whose races overlap: the notices of one come among the calls of another. */
const AT_ONCE = 2
const SECRET = 'whsec_of_these_races'

const stripe = shared(() => startStripe({ deliverAtOnce: true, now: Math.floor(Date.now() / 1000) - 60 }))
const servers = shared(() =>
  openServers(2, {
    // A busy machine may take longer than a caller would wait; what is tested is the outcome.
    TOLLGATE_REQUEST_TIMEOUT_MS: '60000',
    STRIPE_SECRET_KEY: stripe.key,
    STRIPE_WEBHOOK_SECRET: SECRET,
    STRIPE_API_BASE: stripe.url,
  }),
)
let world: RacedWorld
beforeAll(async () => {
  stripe.register({
    urls: [0, 1].map((process) => `${servers.url(process)}/webhooks/stripe/default`),
    secret: SECRET,
  })
  world = {
    stripe,
    admin: (process) => servers.admin(process),
    sql: (text, values) => rowsOf({ connectionString: servers.database.url }, text, values),
    random: seeded(Number(process.env.TOLLGATE_RACE_SEED ?? 5)),
  }
  await furnishRaces(servers.app.dashboard, world)
})

it('property: gap: lifecycle: however changes race with each other and with a payment, one base plan is live, and a serial order explains every answer', async () => {
  const users = Array.from({ length: USERS }, (_, i) => `user-${i}`)
  const totals = { calls: 0, refused: 0, busy: 0 }
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let userId = users.shift(); userId !== undefined; userId = users.shift()) {
        const { calls, refused, busy, problem } = await raceOf(
          world,
          userId,
          users.length % 2 === 0 ? 'stripe' : 'sandbox',
        )
        if (problem !== null) throw new Error(`${userId}: ${problem}`)
        totals.calls += calls.length
        totals.refused += refused
        totals.busy += busy
      }
    }),
  )
  expect(totals.refused).toBeLessThan(totals.calls)
  expect(totals.busy).toBeLessThan(totals.calls / 10)
  if (process.env.TOLLGATE_RACED_USERS) console.log({ users: USERS, ...totals })
}, 900_000)

describe('the rules of a race', () => {
  const call = (
    asked: RacedCall['asked'],
    answer: RacedCall['answer'],
    begun: number,
    ended: number,
  ): RacedCall => ({ asked, answer, begun, ended })
  it.each<[what: string, calls: RacedCall[], explained: boolean]>([
    ['one subscription', [call({ kind: 'subscribe', packageId: 'a' }, { plan: 's1 a -' }, 0, 1)], true],
    [
      'two at once, both granted',
      [
        call({ kind: 'subscribe', packageId: 'a' }, { plan: 's1 a -' }, 0, 2),
        call({ kind: 'subscribe', packageId: 'b' }, { plan: 's2 b -' }, 1, 3),
      ],
      false,
    ],
    [
      'a plan that a reader saw after it had been changed',
      [
        call({ kind: 'subscribe', packageId: 'a' }, { plan: 's1 a -' }, 0, 1),
        call({ kind: 'change', packageId: 'b' }, { plan: 's2 b -' }, 2, 3),
        call({ kind: 'read' }, { plan: 's1 a -' }, 4, 5),
      ],
      false,
    ],
    [
      'a payment that was heard of while others went on',
      [
        call({ kind: 'pay' }, { plan: 's2 p1 -' }, 0, 9),
        call({ kind: 'subscribe', packageId: 'a' }, { plan: 's1 a -' }, 1, 2),
        call({ kind: 'read' }, { plan: 's2 p1 -' }, 3, 4),
        call({ kind: 'try', packageId: 'b' }, { refused: 'The user has a paid subscription to "p1"' }, 5, 6),
      ],
      true,
    ],
    [
      'a refusal for what was so',
      [call({ kind: 'unplan' }, { refused: 'The user has no scheduled change' }, 0, 1)],
      true,
    ],
    ['a planned change that was none', [call({ kind: 'unplan' }, { plan: 's1 a -' }, 0, 1)], false],
    [
      'a change that was taken back behind the caller’s back',
      [
        call({ kind: 'subscribe', packageId: 'a' }, { plan: 's1 a -' }, 0, 1),
        call({ kind: 'plan', packageId: 'b' }, { plan: 's1 a b' }, 2, 3),
        call({ kind: 'read' }, { plan: 's1 a -' }, 4, 5),
      ],
      false,
    ],
  ])('%s', (_, calls, explained) => {
    expect(serialOrder(calls, '0', ruleOf(['s1', 's2'])) !== null).toBe(explained)
  })
})
