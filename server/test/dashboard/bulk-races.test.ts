import { expect, it } from 'vitest'
import { bulkChanges, USERS } from '../harness/bulk.ts'
import { holdJobs } from '../harness/hold-jobs.ts'
import { createApp, OWNER_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(() => startTestServer({ env: OWNER_SETTINGS }))
const { start, sent, sql } = bulkChanges(() => server)

const OVERRIDE = { of: USERS, setOverride: { featureId: 'sso', mode: 'GRANT' } }
const REFUSED = '5 bulk changes of this app are running. Wait for one to finish, or stop it.'

/** Makes the calls at once. How many succeeded, and the messages of the rest. */
async function outcomes(calls: (() => Promise<unknown>)[]) {
  const ends = await Promise.allSettled(calls.map((call) => call()))
  const failed = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))
  expect(failed.filter((message) => !message.includes(REFUSED))).toEqual([])
  return ends.length - failed.length
}

it('bound: at most five bulk changes of an app run, however many are started, applied or undone at once', async () => {
  await holdJobs(server.databaseUrl)
  await createApp(server, 'busy')
  await createApp(server, 'other')
  await server.dashboard.data(
    'mutation { createFeature(appId: "busy", input: { id: "sso", name: "SSO", type: BINARY }) { id } }',
  )
  await server.dashboard.data(
    'mutation { createFeature(appId: "other", input: { id: "sso", name: "SSO", type: BINARY }) { id } }',
  )
  const twenty = Array.from({ length: 20 }, () => () => start('busy', OVERRIDE))
  expect(await outcomes(twenty)).toBe(5)
  // Those of another app are counted apart.
  expect(await outcomes([() => start('other', OVERRIDE)])).toBe(1)

  const end = (state: string) => sql('update bulk_change set state = $1 where app_id = $2', [state, 'busy'])
  await end('CHECKED')
  expect(await outcomes(twenty)).toBe(5)
  await end('CHECKED')
  const ids = await sql(`select id from bulk_change where app_id = 'busy'`)
  expect(ids).toHaveLength(10)
  expect(
    await outcomes(
      ids.map(
        ({ id }) =>
          () =>
            sent('apply', 'busy', id),
      ),
    ),
  ).toBe(5)
  await end('APPLIED')
  expect(
    await outcomes(
      ids.map(
        ({ id }) =>
          () =>
            sent('undo', 'busy', id),
      ),
    ),
  ).toBe(5)
})
