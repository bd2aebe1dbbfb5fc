import { expect } from 'vitest'
import {
  MAX_PASSWORD_CHARACTERS,
  MIN_API_KEY_CHARACTERS,
  MIN_PASSWORD_CHARACTERS,
  SESSION_SECONDS,
  USER_TOKEN_SECONDS,
} from '../../src/domain/limits.ts'
import { readConfig } from '../../src/settings/config.ts'
import { type Answer, Client, signedIn } from '../harness/client.ts'
import { OWNER, startTestServer } from '../harness/server.ts'
import { type Bound, CREATE_USER, expectRefusal, type World } from './bound.ts'

const SET_OWNER = `mutation ($token: String!, $password: String!) {
  setOwner(token: $token, email: "first@example.com", password: $password) { email }
}`

export const peopleBounds: Bound[] = [
  passwords('MIN_PASSWORD_CHARACTERS', MIN_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS - 1),
  passwords('MAX_PASSWORD_CHARACTERS', MAX_PASSWORD_CHARACTERS, MAX_PASSWORD_CHARACTERS + 1),
  {
    limit: 'MIN_API_KEY_CHARACTERS',
    what: 'the Admin key that the environment gives',
    works: async () =>
      expect(readConfig({ TOLLGATE_API_KEY: 'k'.repeat(MIN_API_KEY_CHARACTERS) }).apiKey).toHaveLength(20),
    refused: async () =>
      expect(() => readConfig({ TOLLGATE_API_KEY: 'k'.repeat(MIN_API_KEY_CHARACTERS - 1) })).toThrow(
        'TOLLGATE_API_KEY must have at least 20 characters.',
      ),
  },
  {
    limit: 'SESSION_SECONDS',
    what: 'the life of a session',
    works: (world) => sessionAfter(world, SESSION_SECONDS * 1000 - 1, OWNER.email),
    refused: (world) => sessionAfter(world, SESSION_SECONDS * 1000, undefined),
  },
  {
    limit: 'USER_TOKEN_SECONDS',
    what: "the life of a user's token",
    works: async (world) => expect(await tokenAfter(world, USER_TOKEN_SECONDS - 1)).toBe('let in'),
    refused: async (world) => expect(await tokenAfter(world, USER_TOKEN_SECONDS)).toBe('UNAUTHENTICATED'),
  },
]

/** A service that has no owner yet takes one password. */
function passwords(limit: Bound['limit'], within: number, beyond: number): Bound {
  const setOwner = async (length: number): Promise<Answer> => {
    const server = await startTestServer({ env: { TOLLGATE_OWNER_EMAIL: '', TOLLGATE_OWNER_PASSWORD: '' } })
    try {
      const token = server.firstStart.ownerToken
      return await server.dashboard.ask(SET_OWNER, {
        token,
        password: 'a fine day '.repeat(length).slice(0, length),
      })
    } finally {
      await server.stop()
    }
  }
  return {
    limit,
    what: 'the password of an owner',
    works: async () =>
      expect(await setOwner(within)).toEqual({
        status: 200,
        data: { setOwner: { email: 'first@example.com' } },
      }),
    refused: async () => expectRefusal(await setOwner(beyond), /password must be 10 to 1024 characters/),
  }
}

async function sessionAfter(
  { clocked, turnClock }: World,
  ms: number,
  email: string | undefined,
): Promise<void> {
  const session = await signedIn(clocked.url, OWNER)
  turnClock(ms)
  const { me } = await session.data('{ me { email } }')
  expect(me?.email).toBe(email)
}

/** What becomes of whoever comes with a token so many seconds after it was made. */
async function tokenAfter({ clocked, turnClock, now, fresh }: World, seconds: number): Promise<string> {
  const id = fresh()
  await clocked.admin.data(CREATE_USER, { input: { id } })
  const generateUserToken = await clocked.admin.call('generateUserToken { token }', { userId: id })
  const made = Math.floor(now() / 1_000) * 1_000
  turnClock(made + seconds * 1_000 - now())
  const client = new Client(`${clocked.url}/client/graphql`, { Authorization: generateUserToken.token })
  const answer = await client.ask('{ me { id } }')
  return answer.errors?.[0]?.extensions.code ?? 'let in'
}
