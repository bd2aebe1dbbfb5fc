import assert from 'node:assert/strict'
import type { OwnApp } from './app.ts'
import type { Audit } from './audit.ts'

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

const section = 'gap: test clocks'

export const testClock: Audit[] = [
  {
    id: 'G.CLOCK.advances',
    section,
    says: 'advanceClock moves the time of an app made with testClock, and returns the app.',
    needs: 'dashboard',
    async run({ freshApp, dashboard }) {
      const app = await freshApp({ testClock: true })
      const { advanceClock } = await dashboard.data(ADVANCE, { appId: app.id, to: time('05-06') })
      assert.deepEqual(advanceClock, { id: app.id })
      assert.equal(await nowIn(app), time('05-06'))
    },
  },
  {
    id: 'G.CLOCK.stands-still',
    section,
    says: 'A test clock moves by advanceClock alone.',
    needs: 'dashboard',
    async run({ freshApp }) {
      const app = await freshApp({ testClock: true })
      assert.equal(await nowIn(app), await nowIn(app))
    },
  },
  {
    id: 'G.CLOCK.forward-only',
    section,
    says: 'A test clock does not move backwards.',
    needs: 'dashboard',
    async run({ freshApp }) {
      const app = await freshApp({ testClock: true })
      await app.advanceTo(time('05-06'))
      await refusesTo(app, time('05-05'))
      assert.equal(await nowIn(app), time('05-06'))
    },
  },
  {
    id: 'G.CLOCK.iso-time',
    section,
    says: 'What is no ISO 8601 time is refused; one with an offset is taken for what it is.',
    needs: 'dashboard',
    async run({ freshApp }) {
      const app = await freshApp({ testClock: true })
      for (const to of ['', 'tomorrow', '1', 'Fri, 01 Jan 2100', '2100-13-01T00:00:00Z'])
        await refusesTo(app, to)
      await app.advanceTo(time('05-06').replace('T00:00:00.000Z', 'T02:00:00+02:00'))
      assert.equal(await nowIn(app), time('05-06'))
    },
  },
  {
    id: 'G.CLOCK.real-time-app',
    section,
    says: 'An app made without testClock has no clock to move.',
    needs: 'dashboard',
    run: ({ own }) => refusesTo(own, time('05-06')),
  },
  {
    id: 'G.CLOCK.one-app-only',
    section,
    says: "Moving one app's clock leaves the others'.",
    needs: 'dashboard',
    async run({ freshApp }) {
      const [one, other] = [await freshApp({ testClock: true }), await freshApp({ testClock: true })]
      const before = await nowIn(other)
      await one.advanceTo(time('05-06'))
      assert.equal(await nowIn(other), before)
    },
  },
]
