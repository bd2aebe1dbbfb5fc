import assert from 'node:assert/strict'
import type { OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'

const ADVANCE = 'mutation ($appId: String!, $to: String!) { advanceClock(appId: $appId, to: $to) { id } }'
const time = (date: string) => `${new Date().getUTCFullYear() + 1}-${date}T00:00:00.000Z`

/** The app's time, as a new subscription tells it. */
async function nowIn(app: OwnApp): Promise<string> {
  const [subscription] = await app.subscribe(await app.makeUser(), await app.makePlan())
  return String(subscription?.startedAt)
}

async function refusesTo(app: OwnApp, to: string): Promise<void> {
  const { extensions } = await app.dashboard.error(ADVANCE, { appId: app.id, to })
  assert.equal(extensions.code, 'BAD_USER_INPUT', to)
}

const testClocks = section('gap: test clocks')

export const testClock: Audit[] = [
  testClocks.withOwner(
    'G.CLOCK.advances',
    'advanceClock moves the time of an app made with testClock, and returns the app.',
    async ({ freshApp, dashboard }) => {
      const app = await freshApp({ testClock: true })
      const { advanceClock } = await dashboard.data(ADVANCE, { appId: app.id, to: time('05-06') })
      assert.deepEqual(advanceClock, { id: app.id })
      assert.equal(await nowIn(app), time('05-06'))
    },
  ),
  testClocks.withOwner(
    'G.CLOCK.stands-still',
    'A test clock moves by advanceClock alone.',
    async ({ freshApp }) => {
      const app = await freshApp({ testClock: true })
      assert.equal(await nowIn(app), await nowIn(app))
    },
  ),
  testClocks.withOwner(
    'G.CLOCK.forward-only',
    'A test clock does not move backwards.',
    async ({ freshApp }) => {
      const app = await freshApp({ testClock: true })
      await app.advanceTo(time('05-06'))
      await refusesTo(app, time('05-05'))
      assert.equal(await nowIn(app), time('05-06'))
    },
  ),
  testClocks.withOwner(
    'G.CLOCK.iso-time',
    'What is no ISO 8601 time is refused; one with an offset is taken for what it is.',
    async ({ freshApp }) => {
      const app = await freshApp({ testClock: true })
      for (const to of ['', 'tomorrow', '1', 'Fri, 01 Jan 2100', '2100-13-01T00:00:00Z'])
        await refusesTo(app, to)
      await app.advanceTo(time('05-06').replace('T00:00:00.000Z', 'T02:00:00+02:00'))
      assert.equal(await nowIn(app), time('05-06'))
    },
  ),
  testClocks.withOwner(
    'G.CLOCK.real-time-app',
    'An app made without testClock has no clock to move.',
    ({ own }) => refusesTo(own, time('05-06')),
  ),
  testClocks.withOwner(
    'G.CLOCK.one-app-only',
    "Moving one app's clock leaves the others'.",
    async ({ freshApp }) => {
      const [one, other] = [await freshApp({ testClock: true }), await freshApp({ testClock: true })]
      const before = await nowIn(other)
      await one.advanceTo(time('05-06'))
      assert.equal(await nowIn(other), before)
    },
  ),
]
