import assert from 'node:assert/strict'
import { type App, newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { errorOf, refuses, UNAUTHENTICATED, USER_NOT_FOUND } from './expect.ts'

const userTokens = section('gap: user tokens')

const GENERATE = 'mutation ($userId: String!) { generateUserToken(userId: $userId) { token } }'

async function tokenOf(app: App, userId: string): Promise<string> {
  return (await app.admin.data(GENERATE, { userId })).generateUserToken.token
}

/** Header and claims of a JWT. */
function decoded(token: string): { header: Record<string, unknown>; claims: Record<string, unknown> } {
  const parts = token.split('.')
  assert.equal(parts.length, 3, 'a signed JWT has three parts')
  assert.ok(parts.every((part) => /^[\w-]+$/.test(part)))
  const [header, claims] = parts.map((part) => Buffer.from(part, 'base64url').toString())
  return { header: JSON.parse(header ?? ''), claims: JSON.parse(claims ?? '') }
}

export const tokens: Audit[] = [
  section('spec §4 mutation rule 7').withKey(
    'S4.M7.token',
    'generateUserToken returns a token that is specific to the user.',
    async ({ app }) => {
      const [ada, bob] = [await tokenOf(app, await app.makeUser()), await tokenOf(app, await app.makeUser())]
      assert.ok(decoded(ada).claims.sub)
      assert.notEqual(decoded(ada).claims.sub, decoded(bob).claims.sub)
    },
  ),
  userTokens.withKey('G.TOKEN.signed', 'The token is a JWT with a signature.', async ({ app }) => {
    const { header } = decoded(await tokenOf(app, await app.makeUser()))
    assert.match(String(header.alg), /^(HS|RS|ES|PS|Ed)/)
  }),
  userTokens.withKey('G.TOKEN.one-hour', 'The token is valid for an hour from now.', async ({ app }) => {
    const { iat, exp } = decoded(await tokenOf(app, await app.makeUser())).claims
    assert.equal(Number(exp) - Number(iat), 3_600)
    assert.ok(Number(exp) * 1_000 > Date.now(), 'it is still valid')
  }),
  userTokens.withKey(
    'G.TOKEN.survives-id-change',
    'The token names an identity of the user that a change of id does not touch, not the id.',
    async ({ admin, app }) => {
      const userId = await app.makeUser()
      const before = decoded(await tokenOf(app, userId)).claims
      const id = newId('user')
      await admin.data(`mutation { updateUser(id: "${userId}", input: { id: "${id}" }) { id } }`)
      assert.equal(decoded(await tokenOf(app, id)).claims.sub, before.sub)
      assert.ok(!JSON.stringify(before).includes(userId))
      const newcomer = await app.makeUser({ id: userId })
      assert.notEqual(decoded(await tokenOf(app, newcomer)).claims.sub, before.sub)
    },
  ),
  userTokens.withOwner('G.TOKEN.bound-to-app', 'The token names the app.', async ({ own }) => {
    const { claims } = decoded(await tokenOf(own, await own.makeUser()))
    assert.ok(Object.values(claims).includes(own.id))
  }),
  userTokens.withKey(
    'G.TOKEN.refused-as-key',
    'A user token is refused on the Admin API.',
    async ({ app, visitor }) => {
      const token = await tokenOf(app, await app.makeUser())
      for (const header of [token, `Bearer ${token}`]) {
        const response = await visitor.with({ Authorization: header }).post('{"query":"{ __typename }"}')
        assert.deepEqual((await errorOf(response)).extensions, UNAUTHENTICATED)
      }
    },
  ),
  section('gap: unknown ids').withKey(
    'G.TOKEN.user-not-found',
    'generateUserToken for an unknown user fails with USER_NOT_FOUND.',
    async ({ admin }) => void (await refuses(admin, GENERATE, { userId: newId('user') }, USER_NOT_FOUND)),
  ),
]
