import { availableParallelism } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import { INVITATION_HOURS, PASSWORD_RESET_HOURS, SIGN_IN_TRIES } from '../../src/domain/limits.ts'
import { passwordWork } from '../../src/operations/members/password-work.ts'
import { type Client, type Data, dashboardClient, signedIn } from '../harness/client.ts'
import { rowsOf, untilSomebodyWaits, WAITING, withConnection } from '../harness/database.ts'
import { OWNER, startTestServer, type TestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

let now = Date.now()
const server = shared(() => startTestServer({ clocks: { wall: () => now } }))

const PASSWORD = 'a good password'
const INVITE = `mutation ($email: String!, $role: Role!) { inviteMember(email: $email, role: $role) { id email role url expiresAt } }`
const ACCEPT = `mutation ($token: String!, $password: String!) { acceptInvitation(token: $token, password: $password) { id email role } }`

const tokenOf = (url: string): string => new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? ''

let people = 0
async function newMember(role: string): Promise<{ id: string; email: string; client: Client }> {
  const email = `${role.toLowerCase()}-${++people}@example.com`
  const { inviteMember } = await server.dashboard.data(INVITE, { email, role })
  const { acceptInvitation } = await dashboardClient(server.url).data(ACCEPT, {
    token: tokenOf(inviteMember.url),
    password: PASSWORD,
  })
  return { id: acceptInvitation.id, email, client: await signedIn(server.url, { email, password: PASSWORD }) }
}

describe('gap: roles', () => {
  it('a viewer reads, an editor edits', async () => {
    const { client: viewer } = await newMember('VIEWER')
    expect((await viewer.data('{ me { role } apps { id } packages(appId: "default") { id } }')).me.role).toBe(
      'VIEWER',
    )
    const { client: editor } = await newMember('EDITOR')
    const create = `mutation { createFeature(appId: "default", input: { id: "edited", name: "E", type: BINARY }) { id } }`
    expect(await editor.data(create)).toEqual({ createFeature: { id: 'edited' } })
    expect((await editor.data('{ permissions }')).permissions).toContain('createFeature')
    expect((await viewer.data('{ permissions }')).permissions).not.toContain('createFeature')
  })
})

async function cookieOf(email: string): Promise<string> {
  const response = await dashboardClient(server.url).post(
    JSON.stringify({
      query: `mutation { signIn(email: "${email}", password: "${PASSWORD}") { email } }`,
    }),
  )
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

describe('gap: members', () => {
  it('an invitation is valid once, for its role, until it expires', async () => {
    const { inviteMember } = await server.dashboard.data(INVITE, {
      email: ' New@Example.com ',
      role: 'EDITOR',
    })
    expect(inviteMember).toMatchObject({ email: 'new@example.com', role: 'EDITOR' })
    expect(inviteMember.url).toMatch(/\/invite#token=[\w-]{43}$/)
    const visitor = dashboardClient(server.url)
    const token = tokenOf(inviteMember.url)
    const OFFER = 'query ($token: String!) { invitation(token: $token) { email role } }'
    expect(await visitor.data(OFFER, { token })).toEqual({
      invitation: { email: 'new@example.com', role: 'EDITOR' },
    })
    expect((await visitor.error(ACCEPT, { token, password: 'short' })).message).toMatch(/^password must be/)
    expect((await visitor.data(ACCEPT, { token, password: PASSWORD })).acceptInvitation.role).toBe('EDITOR')
    for (const again of [token, 'guessed']) {
      expect(await visitor.error(ACCEPT, { token: again, password: PASSWORD })).toMatchObject({
        message: 'This invitation is no longer valid. Ask an owner for a new one.',
        extensions: { code: 'UNAUTHENTICATED' },
      })
    }
    expect((await server.dashboard.error(INVITE, { email: 'new@example.com', role: 'VIEWER' })).message).toBe(
      '"new@example.com" is already a member',
    )
  })

  it('an invitation that was revoked, replaced or has expired is refused', async () => {
    const invite = async () =>
      (await server.dashboard.data(INVITE, { email: 'late@example.com', role: 'VIEWER' })).inviteMember
    const works = async (url: string) => {
      const { errors } = await dashboardClient(server.url).ask(
        `{ invitation(token: "${tokenOf(url)}") { email } }`,
      )
      return errors === undefined
    }
    const first = await invite()
    const second = await invite()
    expect([await works(first.url), await works(second.url)]).toEqual([false, true])
    await server.dashboard.data('mutation ($id: String!) { revokeInvitation(id: $id) }', { id: second.id })
    expect(await works(second.url)).toBe(false)
    const third = await invite()
    now += INVITATION_HOURS * 3_600_000 - 1
    expect(await works(third.url)).toBe(true)
    now += 1
    expect(await works(third.url)).toBe(false)
    expect((await server.dashboard.data('{ invitations { email } }')).invitations).toEqual([])
  })

  it('only the hash of a token is kept', async () => {
    const { inviteMember } = await server.dashboard.data(INVITE, {
      email: 'hash@example.com',
      role: 'VIEWER',
    })
    const auditLog = await server.dashboard.call('auditLog { rows { operation before after } }', { first: 1 })
    expect(JSON.stringify(auditLog)).not.toContain(tokenOf(inviteMember.url))
    expect(auditLog.rows[0]).toMatchObject({
      operation: 'inviteMember',
      after: { email: 'hash@example.com' },
    })
  })

  it('a changed role applies to what follows in the same request, and so does a removal', async () => {
    const { id, client } = await newMember('OWNER')
    const then = 'inviteMember(email: "friend@example.com", role: OWNER) { id }'
    const demoted = await client.error(
      `mutation { changeRole(memberId: "${id}", role: VIEWER) { role } ${then} }`,
    )
    expect([demoted.path, demoted.extensions.code]).toEqual([['inviteMember'], 'FORBIDDEN'])
    const { id: other, client: leaving } = await newMember('OWNER')
    const removed = await leaving.error(`mutation { removeMember(memberId: "${other}") ${then} }`)
    expect([removed.path, removed.extensions.code]).toEqual([['inviteMember'], 'UNAUTHENTICATED'])
    const { invitations } = await server.dashboard.data('{ invitations { email } }')
    expect(invitations.map(({ email }: Data) => email)).not.toContain('friend@example.com')
  })

  it('a changed role applies from the next request on, and a removed member is signed out', async () => {
    const { id, client } = await newMember('EDITOR')
    const edit = 'mutation { advanceClock(appId: "nowhere", to: "2030-01-01T00:00:00Z") { id } }'
    expect((await client.error(edit)).extensions.code).toBe('APP_NOT_FOUND')
    await server.dashboard.call('changeRole', { memberId: id, role: 'VIEWER' })
    expect((await client.error(edit)).extensions.code).toBe('FORBIDDEN')
    await server.dashboard.data('mutation ($id: String!) { removeMember(memberId: $id) }', { id })
    expect(await client.data('{ me { email } }')).toEqual({ me: null })
    const { extensions } = await server.dashboard.error(
      'mutation ($id: String!) { removeMember(memberId: $id) }',
      { id },
    )
    expect(extensions.code).toBe('MEMBER_NOT_FOUND')
  })

  it('there is always an owner, also when two leave at once', async () => {
    const second = await newMember('OWNER')
    const { me } = await server.dashboard.data('{ me { id } }')
    const demote = (client: Client, id: string) =>
      client.ask('mutation ($id: String!) { changeRole(memberId: $id, role: VIEWER) { role } }', { id })
    const answers = await Promise.all([demote(server.dashboard, me.id), demote(second.client, second.id)])
    const messages = answers.flatMap(({ errors }) => errors?.map(({ message }) => message) ?? [])
    expect(messages).toEqual(['This is the last owner. Make another member an owner first.'])
    const { members } = await server.dashboard.data('{ members { email role } }')
    const owners = members.filter(({ role }: Data) => role === 'OWNER')
    expect(owners).toHaveLength(1)
    const remaining = owners[0].email === OWNER.email ? server.dashboard : second.client
    await remaining.call('changeRole', { memberId: me.id, role: 'OWNER' })
  })
})

describe('gap: a forgotten password', () => {
  const LINK = `mutation ($memberId: String!) { createPasswordReset(memberId: $memberId) { email url expiresAt } }`
  const RESET = `mutation ($token: String!, $password: String!) { resetPassword(token: $token, password: $password) { id email } }`
  const NEW = 'another good password'

  const linkFor = async (memberId: string) =>
    tokenOf((await server.dashboard.data(LINK, { memberId })).createPasswordReset.url)
  const canSignIn = async (email: string, password: string) => {
    const { errors } = await dashboardClient(server.url).ask(
      'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { id } }',
      { email, password },
    )
    return errors === undefined
  }

  it('is reset once by a link that an owner created; until then nothing changes', async () => {
    const { id, email, client } = await newMember('EDITOR')
    const token = await linkFor(id)
    expect([await canSignIn(email, PASSWORD), (await client.data('{ me { email } }')).me.email]).toEqual([
      true,
      email,
    ])
    const visitor = dashboardClient(server.url)
    expect(await visitor.data(`{ passwordReset(token: "${token}") { email } }`)).toEqual({
      passwordReset: { email },
    })
    expect((await visitor.error(RESET, { token, password: 'short' })).message).toMatch(/^password must be/)

    const answers = await Promise.all(
      [1, 2].map(() => dashboardClient(server.url).ask(RESET, { token, password: NEW })),
    )
    expect(answers.filter(({ errors }) => errors === undefined)).toHaveLength(1)
    expect(answers.flatMap(({ data }) => data?.resetPassword ?? [])).toEqual([{ id, email }])
    expect([await canSignIn(email, PASSWORD), await canSignIn(email, NEW)]).toEqual([false, true])
    expect((await client.data('{ me { email } }')).me).toBeNull()
    const auditLog = await server.dashboard.call('auditLog { rows { operation memberEmail before after } }', {
      first: 20,
    })
    const noted = auditLog.rows.filter(({ operation }: Data) => /PasswordReset|resetPassword/.test(operation))
    expect(noted.map((row: Data) => [row.operation, row.memberEmail])).toEqual([
      ['resetPassword', email],
      ['createPasswordReset', OWNER.email],
    ])
    const shown = { id, email, role: 'EDITOR' }
    expect([noted[0].before, noted[0].after]).toEqual([shown, shown])
    expect(JSON.stringify(auditLog)).not.toContain(token)
    expect(await visitor.error(RESET, { token, password: NEW })).toMatchObject({
      message: expect.stringMatching(/^This link was already used or has expired/),
      extensions: { code: 'UNAUTHENTICATED' },
    })
  })

  /** What it answers if a link sets another password while it waits, having read the old one, to compare it. */
  async function overtaken<T>(id: string, compare: () => Promise<T>): Promise<T> {
    const token = await linkFor(id)
    return withConnection({ connectionString: server.databaseUrl }, async (held) => {
      await held.query('begin; lock table sign_in_pace in share mode')
      const answer = compare()
      await untilSomebodyWaits(server.databaseUrl)
      await dashboardClient(server.url).data(RESET, { token, password: NEW })
      await held.query('commit')
      return answer
    })
  }

  it('is of no use to whoever was signing in with it when a link replaced it', async () => {
    const { id, email } = await newMember('OWNER')
    const cookie = await overtaken(id, () => cookieOf(email))
    const visitor = dashboardClient(server.url).with({ Cookie: cookie })
    expect(await visitor.data('{ me { email } }')).toEqual({ me: null })
  })

  it('is of no use to whoever was changing it when a link replaced it', async () => {
    const { id, email, client } = await newMember('OWNER')
    const third = 'a third good one'
    const change = `mutation { changePassword(current: "${PASSWORD}", password: "${third}") }`
    const { message } = await overtaken(id, () => client.error(change))
    expect(message).toBe('The current password is wrong')
    expect([await canSignIn(email, third), await canSignIn(email, NEW)]).toEqual([false, true])
  })

  it('a link is void once it is replaced, has expired, or the password was changed', async () => {
    const { id, client } = await newMember('VIEWER')
    const works = async (token: string) => {
      const { errors } = await dashboardClient(server.url).ask(
        `{ passwordReset(token: "${token}") { email } }`,
      )
      return errors === undefined
    }
    const first = await linkFor(id)
    const second = await linkFor(id)
    expect([await works(first), await works(second)]).toEqual([false, true])
    await client.data(`mutation { changePassword(current: "${PASSWORD}", password: "${NEW}") }`)
    expect(await works(second)).toBe(false)
    const third = await linkFor(id)
    now += PASSWORD_RESET_HOURS * 3_600_000 - 1
    expect(await works(third)).toBe(true)
    now += 1
    expect(await works(third)).toBe(false)
    await server.dashboard.data('mutation ($id: String!) { removeMember(memberId: $id) }', { id })
  })
})

describe('gap: links that owners make', () => {
  const LINK = `mutation ($memberId: String!) { createPasswordReset(memberId: $memberId) { url } }`
  const RESET = `mutation ($token: String!) { resetPassword(token: $token, password: "another good password") { id } }`
  const DEMOTE = 'mutation ($memberId: String!) { changeRole(memberId: $memberId, role: EDITOR) { role } }'
  const REMOVE = 'mutation ($memberId: String!) { removeMember(memberId: $memberId) }'

  /** An owner, and the links that they made: one to join by, one by which a viewer sets another password. */
  async function linking() {
    const { id, email, client } = await newMember('OWNER')
    const guest = `guest-${people}@example.com`
    const { inviteMember } = await client.data(INVITE, { email: guest, role: 'OWNER' })
    const viewer = await newMember('VIEWER')
    const { createPasswordReset } = await client.data(LINK, { memberId: viewer.id })
    const [joining, resetting] = [tokenOf(inviteMember.url), tokenOf(createPasswordReset.url)]
    return { id, email, client, guest, viewer, joining, resetting }
  }

  const codeOf = (answer: { errors?: { extensions: { code: string } }[] }) =>
    answer.errors?.[0]?.extensions.code
  const accepted = (token: string) =>
    dashboardClient(server.url).ask(ACCEPT, { token, password: PASSWORD }).then(codeOf)
  const reset = (token: string) => dashboardClient(server.url).ask(RESET, { token }).then(codeOf)

  /** What each answers, one after the other, having come while somebody else was changing members. */
  const inTurn = <T>(...calls: (() => Promise<T>)[]): Promise<T[]> =>
    withConnection({ connectionString: server.databaseUrl }, async (held) => {
      await held.query('begin; lock table member in share row exclusive mode')
      const answers: Promise<T>[] = []
      for (const call of calls) {
        answers.push(call())
        await vi.waitUntil(
          async () =>
            (await rowsOf({ connectionString: server.databaseUrl }, WAITING)).length === answers.length,
          60_000,
        )
      }
      await held.query('commit')
      return Promise.all(answers)
    })

  it.each([
    ['demoted', DEMOTE],
    ['removed', REMOVE],
  ])('are void once whoever made them is %s, and the audit log says which', async (_, change) => {
    const { id, email, guest, viewer, joining, resetting } = await linking()
    const mine = await server.dashboard.data(INVITE, { email: `mine-${people}@example.com`, role: 'VIEWER' })
    await server.dashboard.data(change, { memberId: id })
    expect([await accepted(joining), await reset(resetting)]).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED'])
    const { invitations, auditLog } = await server.dashboard.data(
      '{ invitations { id email } auditLog(first: 1) { rows { before after } } }',
    )
    expect(invitations.map((sent: Data) => sent.email)).not.toContain(guest)
    expect(invitations.map((sent: Data) => sent.id)).toContain(mine.inviteMember.id)
    const shown = { id, email, role: 'OWNER', invitations: [guest], passwordResets: [viewer.email] }
    const left = { id, email, role: 'EDITOR', invitations: [], passwordResets: [] }
    expect(auditLog.rows[0]).toEqual({ before: shown, after: change === DEMOTE ? left : null })
  })

  it('stay valid if an owner is made an owner', async () => {
    const { id, joining, resetting } = await linking()
    await server.dashboard.data(DEMOTE.replace('EDITOR', 'OWNER'), { memberId: id })
    expect([await accepted(joining), await reset(resetting)]).toEqual([undefined, undefined])
  })

  it('are of no use while whoever made them is being demoted', async () => {
    const { id, joining, resetting } = await linking()
    const demote = () => server.dashboard.ask(DEMOTE, { memberId: id }).then(codeOf)
    expect(
      await inTurn(
        demote,
        () => accepted(joining),
        () => reset(resetting),
      ),
    ).toEqual([undefined, 'UNAUTHENTICATED', 'UNAUTHENTICATED'])
  })

  it('are not used up by requests that were answered before they were carried out', async () => {
    const { joining, resetting } = await linking()
    const env = { TOLLGATE_REQUEST_TIMEOUT_MS: '500' }
    const hasty = await startTestServer({ databaseUrl: server.databaseUrl, env, clocks: { wall: () => now } })
    const visitor = dashboardClient(hasty.url)
    let goOn = () => {}
    const woken = new Promise<void>((resolve) => {
      goOn = resolve
    })
    // Others' passwords are being hashed, for longer than these callers wait.
    const others = Array.from({ length: Math.max(1, Math.floor(availableParallelism() / 2)) }, () =>
      passwordWork.run(() => woken),
    )
    const answers = await Promise.all([
      visitor.ask(ACCEPT, { token: joining, password: PASSWORD }).then(codeOf),
      visitor.ask(RESET, { token: resetting }).then(codeOf),
    ])
    expect(answers).toEqual(['UNAVAILABLE', 'UNAVAILABLE'])
    goOn()
    await Promise.all(others)
    expect([await accepted(joining), await reset(resetting)]).toEqual([undefined, undefined])
    await hasty.stop()
  })

  it('cannot be made by somebody who is being demoted, nor can members be changed', async () => {
    const { id, client, viewer } = await linking()
    const demote = () => server.dashboard.ask(DEMOTE, { memberId: id }).then(codeOf)
    const tries = [
      () => client.ask(INVITE, { email: 'too-late@example.com', role: 'OWNER' }).then(codeOf),
      () => client.ask(LINK, { memberId: viewer.id }).then(codeOf),
      () => client.ask(DEMOTE.replace('EDITOR', 'OWNER'), { memberId: id }).then(codeOf),
      () => client.ask(REMOVE, { memberId: viewer.id }).then(codeOf),
    ]
    expect(await inTurn(demote, ...tries)).toEqual([undefined, ...tries.map(() => 'FORBIDDEN')])
  })
})

describe('gap: sessions', () => {
  it('are listed, ended one by one, and all at once', async () => {
    const { email, client } = await newMember('VIEWER')
    const other = await signedIn(server.url, { email, password: PASSWORD })
    const { sessions } = await client.data('{ sessions { id current userAgent createdAt expiresAt } }')
    // The one of the invitation, and two that signed in.
    expect(sessions.map(({ current }: Data) => current)).toEqual([false, true, false])
    await client.data('mutation ($id: String!) { signOutSession(id: $id) }', { id: sessions[0].id })
    expect(await other.data('{ me { email } }')).toEqual({ me: null })
    expect(await client.data('{ me { email } }')).toEqual({ me: { email } })
    await client.data('mutation { signOutEverywhere }')
    expect(await client.data('{ me { email } }')).toEqual({ me: null })
  })

  it("nobody ends another's", async () => {
    const { client } = await newMember('OWNER')
    const { sessions } = await server.dashboard.data('{ sessions { id } }')
    const end = 'mutation ($id: String!) { signOutSession(id: $id) }'
    expect(await client.data(end, { id: sessions[0].id })).toEqual({ signOutSession: false })
    expect((await server.dashboard.data('{ me { email } }')).me.email).toBe(OWNER.email)
  })

  it('a new password ends the others', async () => {
    const { email, client } = await newMember('VIEWER')
    const other = await signedIn(server.url, { email, password: PASSWORD })
    const change =
      'mutation ($current: String!) { changePassword(current: $current, password: "another password") }'
    expect((await client.error(change, { current: 'wrong' })).message).toBe('The current password is wrong')
    await client.data(change, { current: PASSWORD })
    expect(await other.data('{ me { email } }')).toEqual({ me: null })
    expect(await client.data('{ me { email } }')).toEqual({ me: { email } })
    await signedIn(server.url, { email, password: 'another password' })
  })

  it('signing in creates a new session and ends the previous one of that browser', async () => {
    const fixed = await cookieOf((await newMember('VIEWER')).email)
    const visitor = dashboardClient(server.url).with({ Cookie: fixed })
    const response = await visitor.post(
      JSON.stringify({
        query: `mutation { signIn(email: "${OWNER.email}", password: "${OWNER.password}") { email } }`,
      }),
    )
    const [given] = (response.headers.get('set-cookie') ?? '').split(';')
    expect(given).not.toBe(fixed)
    expect(await visitor.data('{ me { email } }')).toEqual({ me: null })
  })

  it('a made-up cookie never becomes a session', async () => {
    const planted = dashboardClient(server.url).with({ Cookie: `tollgate_session=${'a'.repeat(43)}` })
    await planted.call('signIn', { email: OWNER.email, password: OWNER.password })
    expect(await planted.data('{ me { email } }')).toEqual({ me: null })
  })

  it('tries to sign in are counted by all processes together', async () => {
    const second = await startTestServer({ databaseUrl: server.databaseUrl, clocks: { wall: () => now } })
    try {
      const email = 'target@example.com'
      const guess = async ({ url }: TestServer) => {
        const query = `mutation { signIn(email: "${email}", password: "a guess") { email } }`
        const { errors } = await dashboardClient(url).ask(query)
        return errors?.[0]?.extensions.code
      }
      const codes: unknown[] = []
      for (let i = 0; i < SIGN_IN_TRIES + 4; i++) codes.push(await guess(i % 2 === 0 ? server : second))
      expect(codes.filter((code) => code === 'UNAUTHENTICATED')).toHaveLength(SIGN_IN_TRIES)
      expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(4)
    } finally {
      await second.stop()
    }
  })
})
