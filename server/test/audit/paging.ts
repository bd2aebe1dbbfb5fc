import assert from 'node:assert/strict'
import { newId, type OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, refuses } from './expect.ts'

type List = 'features' | 'packages' | 'users' | 'subscriptions'

/** Makes five entries and returns their ids, oldest first. */
const MAKE: Record<List, (app: OwnApp) => Promise<string[]>> = {
  features: (app) => five(() => app.makeFeature()),
  packages: (app) => five(() => app.makePlan()),
  users: (app) => five(() => app.makeUser()),
  subscriptions: async (app) => {
    const plan = await app.makePlan()
    return five(async () => String((await app.subscribe(await app.makeUser(), plan))[0]?.id))
  },
}

async function five(make: () => Promise<string>): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < 5) ids.push(await make())
  return ids
}

async function listed(app: OwnApp, list: List, page: { first?: number; after?: string }): Promise<string[]> {
  const answer = await app.admin.data(
    `query ($first: Int, $after: String) { ${list}(first: $first, after: $after) { id } }`,
    page,
  )
  return answer[list].map((entry: { id: string }) => entry.id)
}

const lists = section('gap: lists')
const LISTS = Object.keys(MAKE) as List[]

export const paging: Audit[] = [
  ...LISTS.map((list) =>
    lists.withOwner(
      `G.PAGING.${list}-all`,
      `${list} returns all of them, ordered by creation, oldest first.`,
      async ({ freshApp }) => {
        const app = await freshApp()
        assert.deepEqual(await listed(app, list, {}), [])
        const all = await MAKE[list](app)
        assert.deepEqual(await listed(app, list, {}), all)
      },
    ),
  ),
  ...LISTS.map((list) =>
    lists.withOwner(
      `G.PAGING.${list}-pages`,
      `${list} takes first and after, and the pages make up the whole.`,
      async ({ freshApp }) => {
        const app = await freshApp()
        const all = await MAKE[list](app)
        const [a = '', b = '', c = '', d = '', e = ''] = all
        assert.deepEqual(await listed(app, list, { first: 2 }), [a, b])
        assert.deepEqual(await listed(app, list, { first: 2, after: b }), [c, d])
        assert.deepEqual(await listed(app, list, { first: 2, after: d }), [e])
        assert.deepEqual(await listed(app, list, { after: c }), [d, e])
        assert.deepEqual(await listed(app, list, { after: e }), [])
        assert.deepEqual(await listed(app, list, { first: 0 }), [])
        assert.deepEqual(await listed(app, list, { first: 100 }), all)
      },
    ),
  ),
  lists.withKey(
    'G.PAGING.bad-pages',
    'A negative first, or an after that is no entry, fails with BAD_USER_INPUT.',
    async ({ admin }) => {
      for (const list of LISTS) {
        await refuses(admin, `{ ${list}(first: -1) { id } }`, {}, BAD_USER_INPUT)
        await refuses(admin, `{ ${list}(after: "${newId('x')}") { id } }`, {}, BAD_USER_INPUT)
      }
    },
  ),
  lists.withOwner(
    'G.PAGING.after-a-change-of-id',
    'A user whose id changes keeps its place in the list.',
    async ({ freshApp }) => {
      const app = await freshApp()
      const [a, b] = [await app.makeUser(), await app.makeUser()]
      const id = newId('user')
      await app.admin.data(`mutation { updateUser(id: "${a}", input: { id: "${id}" }) { id } }`)
      assert.deepEqual(await listed(app, 'users', {}), [id, b])
      assert.deepEqual(await listed(app, 'users', { after: id }), [b])
    },
  ),
]
