import { setTimeout as delay } from 'node:timers/promises'
import type { Client, Data } from '../harness/client.ts'
import { type Recorded, type Step, serialOrder } from '../harness/serial-order.ts'
import type { StripeStandIn } from '../stripe/stand-in.ts'

// Changes, ends, subscriptions, trials and a payment of one user, all at once on several processes, while the notices of the
// provider come in. Afterwards there must be a serial order of all calls, and of the payment, in which each gets the
// answer it got; nobody ever sees two base plans; and the provider charges for what the user has, and for nothing else.

export interface RacedWorld {
  /** the Admin API, as the process with this number serves it */
  admin(process: number): Client
  sql(text: string, values?: unknown[]): Promise<Data[]>
  stripe: StripeStandIn
  random(): number
}

type Ask =
  | { kind: 'change' | 'plan' | 'subscribe' | 'try'; packageId: string }
  | { kind: 'unplan' | 'read' | 'pay' }
  | { kind: 'cancel' | 'cancel later' | 'keep'; id: string }
/** `plan`: what the user has, as of the answer, as `id package next`. */
type Answer = { refused: string } | { plan: string }
export type RacedCall = Recorded<Ask, Answer>

const RACERS = 64
const FREE = ['a', 'b']
const PRICED = ['p1', 'p2']

/** Four plans of 10 calls, two of which are sold, by both providers; the templates `sandbox` and `stripe` sell the first. */
export async function furnishRaces(dashboard: Client, { admin, stripe }: RacedWorld): Promise<void> {
  await admin(0).call('createFeature', { input: { id: 'call', name: 'Calls', type: 'CONSUMABLE' } })
  for (const id of [...FREE, ...PRICED]) {
    await admin(0).data(
      `mutation ($id: String!) {
        createPackage(input: { id: $id, name: $id, features: { id: "call", entitlement: { limit: 10 } } }) { id }
      }`,
      { id },
    )
    await dashboard.call('publishPackage', { appId: 'default', id })
  }
  for (const [i, packageId] of PRICED.entries()) {
    const { id: price } = stripe.sell({ name: packageId, amount: 900 + i })
    await dashboard.data(
      `mutation ($packageId: String!, $amount: SafeInt!, $price: String!) {
        createPrice(appId: "default", packageId: $packageId,
          input: { id: $packageId, amount: $amount, currency: "usd", interval: "month" }) { id }
        importPrice(appId: "default", packageId: $packageId, provider: "stripe", id: $price) { id }
      }`,
      { packageId, amount: 900 + i, price },
    )
    if (i > 0) continue
    for (const [id, priceId] of [
      ['sandbox', packageId],
      ['stripe', price],
    ])
      await dashboard.call('createBillingTemplate', {
        appId: 'default',
        input: { id, name: id, packageIds: [packageId], priceIds: [priceId] },
      })
  }
}

/**
 * The rules, on what one user has: `made id package next paid trial`, or `made` alone, which is how many subscriptions there
 * have been. `ids` are all of them in the order in which they were made; without it the search would have to try them all.
 */
export const ruleOf =
  (ids: readonly string[]): Step<string, Ask, Answer> =>
  (state, ask, answer) => {
    const [made = '0', id = '', packageId = '', next = '-', paid = '-', trial = '-'] = state.split(' ')
    const has = id !== ''
    const refused = (reason: RegExp, so: boolean) =>
      'refused' in answer && so && reason.test(answer.refused) ? { after: state, idle: true } : null
    const becomes = (so: boolean, plan: string, terms: string, count = Number(made)) => {
      if (!('plan' in answer) || !so || answer.plan !== plan) return null
      // It changes nothing here perhaps, but does elsewhere: it may not come at any time.
      return { after: `${count} ${plan} ${terms}`, idle: false }
    }
    const starts = (so: boolean, wanted: string, terms: string) =>
      becomes(so, `${ids[Number(made)]} ${wanted} -`, terms, Number(made) + 1)
    const goesOn = (so: boolean, then: string) =>
      becomes(has && so, `${id} ${packageId} ${then}`, `${paid} ${trial}`)
    const busy = refused(/is in progress; retry|temporarily unavailable/, true)
    if (busy) return busy
    switch (ask.kind) {
      case 'read':
        return 'plan' in answer && answer.plan === (has ? `${id} ${packageId} ${next}` : '')
          ? { after: state, idle: true }
          : null
      case 'change':
      case 'plan': {
        const stillPaid = paid === 'paid' && PRICED.includes(ask.packageId) ? 'paid' : '-'
        const other = has && packageId !== ask.packageId
        return (
          (ask.kind === 'change'
            ? starts(other, ask.packageId, `${stillPaid} -`)
            : goesOn(other, ask.packageId)) ??
          refused(/no base plan to change/, !has) ??
          refused(/already/, packageId === ask.packageId)
        )
      }
      case 'subscribe':
        return starts(!has, ask.packageId, '- -') ?? refused(/multiple tiers|already subscribed/, has)
      case 'try':
        return (
          starts(packageId !== ask.packageId && paid !== 'paid', ask.packageId, '- trial') ??
          refused(/already subscribed/, packageId === ask.packageId) ??
          refused(/paid subscription/, paid === 'paid')
        )
      case 'unplan':
        return goesOn(next !== '-', '-') ?? refused(/no scheduled change/, next === '-')
      case 'cancel':
        // What has ended is answered as it is.
        if ('refused' in answer) return null
        return ask.id === id ? { after: made, idle: false } : { after: state, idle: true }
      case 'cancel later':
        if ('refused' in answer) return null
        return ask.id === id ? goesOn(true, '-') : { after: state, idle: true }
      case 'keep':
        return (
          goesOn(ask.id === id && trial !== 'trial', '-') ??
          refused(/trial, which ends automatically/, ask.id === id && trial === 'trial') ??
          refused(/has ended/, ask.id !== id)
        )
      case 'pay':
        // Of all that one has, what was paid for last counts.
        return starts(true, 'p1', 'paid -')
    }
  }

export interface Race {
  calls: RacedCall[]
  refused: number
  /** refused because another change was on its way */
  busy: number
  /** null: everything is as it should be */
  problem: string | null
}

export async function raceOf(
  world: RacedWorld,
  userId: string,
  provider: 'sandbox' | 'stripe',
): Promise<Race> {
  await world.admin(0).call('createUser', { input: { id: userId } })
  const calls: RacedCall[] = []
  const known: string[] = []
  const one = async (process: number, asked: Ask) => {
    const begun = performance.now()
    const answer = await (asked.kind === 'read'
      ? read(world, process, userId)
      : ask(world, process, userId, asked))
    calls.push({ asked, answer, begun, ended: performance.now() })
    if ('plan' in answer && !('id' in asked) && asked.kind !== 'read')
      known.push(answer.plan.split(' ')[0] ?? '')
  }
  await one(0, { kind: 'subscribe', packageId: 'a' })
  const begun = performance.now()
  await Promise.all([
    pay(world, userId, provider),
    ...Array.from({ length: RACERS }, async (_, i) => {
      // Some come while the payment is being made, the others when it has been.
      await delay(world.random() * 400)
      await one(i, someAsk(world.random, known))
      await one(i + 1, { kind: 'read' })
    }),
  ])
  await quiet(world)
  const rows = await rowsOf(world, userId)
  const [bought] = rows.filter(({ provider }) => provider !== null)
  if (bought) {
    const answer = { plan: `${bought.id} p1 -` }
    calls.push({ asked: { kind: 'pay' }, answer, begun, ended: performance.now() })
  }
  await one(0, { kind: 'read' })
  const refusals = calls.flatMap(({ answer }) => ('refused' in answer ? [answer.refused] : []))
  return {
    calls,
    refused: refusals.length,
    busy: refusals.filter((text) => /is in progress|temporarily unavailable/.test(text)).length,
    problem: bought
      ? ((await wrongRows(world, rows, calls)) ?? unexplained(rows, calls))
      : 'the payment made nothing',
  }
}

function unexplained(rows: readonly Row[], calls: readonly RacedCall[]): string | null {
  const ids = rows.filter(({ follows }) => follows === null).map(({ id }) => id)
  return serialOrder(calls, '0', ruleOf(ids)) === null
    ? `no serial order of\n${written(calls)}\nmade: ${ids.join(' ')}`
    : null
}

interface Row {
  id: string
  package: string
  live: boolean
  follows: string | null
  provider: string | null
  ref: string | null
}

const rowsOf = async ({ sql }: RacedWorld, userId: string): Promise<Row[]> =>
  (await sql(
    `select s.id, s.package_id as package, s.cancelled_at is null as live, s.follows, s.provider, s.provider_ref as ref
     from subscription s join users u on u.app_id = s.app_id and u.uid = s.user_uid where u.id = $1 order by s.seq`,
    [userId],
  )) as Row[]

/** What is wrong with what was left, here and at the provider. */
async function wrongRows(
  { sql, stripe }: RacedWorld,
  rows: readonly Row[],
  calls: readonly RacedCall[],
): Promise<string | null> {
  const planned = rows.filter(({ follows }) => follows !== null)
  const live = rows.filter(({ live, follows }) => live && follows === null)
  const started = calls.filter(
    ({ asked, answer }) => 'plan' in answer && ['change', 'subscribe', 'try', 'pay'].includes(asked.kind),
  )
  if (live.length > 1) return `${live.length} live base plans`
  if (planned.some(({ follows }) => follows !== live[0]?.id)) return 'a plan that follows nothing'
  if (rows.length - planned.length !== started.length)
    return `${started.length} were acknowledged, ${rows.length - planned.length} are there\n${written(calls)}`
  const ref = rows.find(({ provider }) => provider !== null)?.ref ?? ''
  const [inBooks] = await sql(`select status from sandbox_subscription where id = $1`, [ref])
  const atStripe = inBooks ? null : stripe.world.subscription(ref)
  const charged = inBooks ? inBooks.status === 'active' : atStripe?.status === 'active'
  const paid = live[0]?.provider ?? null
  return charged === (paid !== null)
    ? null
    : `${charged ? 'charged' : 'not charged'} for ${live[0]?.package ?? 'nothing'}\n${written(calls)}`
}

const KINDS = [
  ...(['change', 'change', 'change', 'plan', 'plan', 'subscribe', 'subscribe', 'try'] as const),
  ...(['unplan', 'unplan', 'cancel', 'cancel later', 'keep'] as const),
]

function someAsk(random: () => number, known: readonly string[]): Ask {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const kind = pick(KINDS)
  if (kind === 'unplan') return { kind }
  if (kind === 'cancel' || kind === 'cancel later' || kind === 'keep')
    return { kind, id: pick(known.slice(-2)) }
  return { kind, packageId: pick([...FREE, ...PRICED]) }
}

const SHOWN = 'id status package { id } scheduled { packageId }'
const shown = (s: Data): string => `${s.id} ${s.package.id} ${s.scheduled?.packageId ?? '-'}`

const TEXT: Record<Exclude<Ask['kind'], 'read' | 'pay'>, string> = {
  change: `changeSubscription(userId: $userId, packageId: $packageId, when: NOW) { subscription { ${SHOWN} } }`,
  plan: `changeSubscription(userId: $userId, packageId: $packageId, when: PERIOD_END) { subscription { ${SHOWN} } }`,
  subscribe: `subscribe(userId: $userId, packageIds: [$packageId]) { ${SHOWN} }`,
  try: `startTrial(userId: $userId, packageId: $packageId, days: 9, again: true) { ${SHOWN} }`,
  unplan: `cancelScheduledChange(userId: $userId) { ${SHOWN} }`,
  cancel: `cancelSubscription(id: $id, atPeriodEnd: false) { ${SHOWN} }`,
  'cancel later': `cancelSubscription(id: $id) { ${SHOWN} }`,
  keep: `keepSubscription(id: $id) { ${SHOWN} }`,
}

async function ask({ admin }: RacedWorld, process: number, userId: string, asked: Ask): Promise<Answer> {
  const text = TEXT[asked.kind as keyof typeof TEXT]
  const variables: Record<string, string> = {
    ...(text.includes('$userId') && { userId }),
    ...('packageId' in asked && { packageId: asked.packageId }),
    ...('id' in asked && { id: asked.id }),
  }
  const declared = Object.keys(variables).map((name) => `$${name}: String!`)
  const { data, errors } = await admin(process).ask(
    `mutation (${declared.join(', ')}) { done: ${text} }`,
    variables,
  )
  const [error] = errors ?? []
  if (error) return { refused: error.message }
  const subscription = Array.isArray(data?.done) ? data.done[0] : (data?.done.subscription ?? data?.done)
  return { plan: shown(subscription) }
}

async function read({ admin }: RacedWorld, process: number, userId: string): Promise<Answer> {
  const { subscriptions } = await admin(process).data(
    `query ($userId: String!) { subscriptions(userId: $userId) { ${SHOWN} } }`,
    { userId },
  )
  const live = subscriptions.filter(({ status }: Data) => status === 'ACTIVE')
  return { plan: live.map(shown).join(' and ') }
}

/** The user pays for a plan by a link; the notice comes when it comes. */
async function pay(
  { admin, stripe }: RacedWorld,
  userId: string,
  provider: 'sandbox' | 'stripe',
): Promise<void> {
  const generateSubscriptionLink = await admin(1).call('generateSubscriptionLink { url }', {
    userId,
    templateId: provider,
    successUrl: 'https://a.example',
    cancelUrl: 'https://b.example',
  })
  const { url } = generateSubscriptionLink
  if (provider === 'stripe') return void stripe.pay(/cs_\w+/.exec(url)?.[0] ?? '')
  const body = new URLSearchParams({ action: 'pay', number: '4242424242424242', expiry: '12/99', cvc: '123' })
  const { status } = await fetch(url, { method: 'POST', body, redirect: 'manual' })
  if (status !== 303) throw new Error(`the sandbox answered ${status}`)
}

/** Until every notice has come and been handled. */
async function quiet({ sql, stripe }: RacedWorld): Promise<void> {
  for (;;) {
    await stripe.deliver()
    const [row] = await sql(
      `select count(*)::int as waiting from graphile_worker.jobs
       where (attempts < max_attempts and run_at <= now()) or locked_at is not null or attempts > 0`,
    )
    if (row?.waiting === 0 && stripe.waiting.length === 0) return
    await delay(20)
  }
}

const written = (calls: readonly RacedCall[]): string =>
  [...calls]
    .sort((a, b) => a.begun - b.begun)
    .map(
      ({ asked, answer, begun, ended }) =>
        `${begun.toFixed(1)}-${ended.toFixed(1)} ${JSON.stringify(asked)} → ${JSON.stringify(answer)}`,
    )
    .join('\n')
