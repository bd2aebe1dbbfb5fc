import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { dashboardClient } from '../harness/client.ts'
import { spawnTollgate, tollgate } from '../harness/command-line.ts'
import { furnish } from '../harness/furnished.ts'
import { API_KEY, createApp, OWNER, startTestServer, type TestServer } from '../harness/server.ts'

// The command line against a service: the commands that sign in to the dashboard.

let server: TestServer
let folder: string
let env: Record<string, string>

beforeAll(async () => {
  server = await startTestServer()
  await furnish(server)
  folder = await mkdtemp(join(tmpdir(), 'tollgate-commands-'))
  env = {
    TOLLGATE_URL: server.url,
    TOLLGATE_API_KEY: API_KEY,
    TOLLGATE_EMAIL: OWNER.email,
    TOLLGATE_PASSWORD: OWNER.password,
  }
})
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => tollgate(args, env)
async function json(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, '--json')
  return { code, stderr, value: JSON.parse(stdout) }
}
/** Sessions of the owner besides the test's own. */
const sessions = async () => (await server.dashboard.data('{ members { sessions } }')).members[0]?.sessions

it('a wrong password, and no permission', async () => {
  expect(await tollgate(['keys', 'list'], { ...env, TOLLGATE_PASSWORD: 'wrong' })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tollgate: Email or password is wrong\n',
  })
  const viewer = { email: 'viewer@example.com', password: OWNER.password }
  const { inviteMember } = await server.dashboard.data(
    'mutation { inviteMember(email: "viewer@example.com", role: VIEWER) { url } }',
  )
  await dashboardClient(server.url).call('acceptInvitation', {
    token: new URL(inviteMember.url).hash.split('=')[1],
    password: viewer.password,
  })
  const asViewer = { ...env, TOLLGATE_EMAIL: viewer.email }
  expect((await tollgate(['keys', 'list'], asViewer)).code).toBe(0)
  const refused = await tollgate(['keys', 'create', 'mine'], asViewer)
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toMatch(/^tollgate: .*OWNER.*\n$/i)
})

describe('keys', () => {
  it('are created, rotated, listed and revoked, and the log names the member', async () => {
    const { code, stdout: secret, stderr } = await run('keys', 'create', 'ci')
    expect(code).toBe(0)
    expect(secret).toMatch(/^tg_\S+\n$/)
    expect(stderr).toMatch(
      /^Created the key "ci" \(key_\S+\) of the app default\.\nThe secret is shown only once:\n$/,
    )
    const [, id = ''] = /\((key_\S+)\)/.exec(stderr) ?? []
    const withKey = (key: string) =>
      tollgate(['check', 'ann', 'calls'], { ...env, TOLLGATE_API_KEY: key.trim() })
    expect((await withKey(secret)).code).toBe(0)

    const rotated = await json('keys', 'rotate', id, '--overlap-hours', '1')
    expect(rotated).toMatchObject({
      code: 0,
      stderr: '',
      value: { name: 'ci', formerExpiresAt: expect.stringMatching(/Z$/) },
    })
    const list = await run('keys', 'list')
    expect(list.stdout.split('\n')[0]).toMatch(
      /^ID +NAME +SECRET +SCOPE +CREATED +LAST USED +EXPIRES +STATE$/,
    )
    expect(list.stdout).toContain(id)

    expect((await run('keys', 'revoke', id)).stdout).toBe(`Revoked ${id}.\n`)
    expect((await withKey(secret)).code).toBe(1)
    expect((await withKey(rotated.value.secret)).code).toBe(0)
    expect((await run('keys', 'list')).stdout).not.toContain(id)
    expect((await json('keys', 'list', '--all')).value).toContainEqual(
      expect.objectContaining({ id, revokedAt: expect.any(String) }),
    )
    expect((await run('keys', 'revoke', 'none')).stderr).toBe('tollgate: API key not found: "none"\n')

    const log = await run('audit', '--app', 'default', '--operation', 'createApiKey', '--limit', '1')
    expect(log.stdout).toMatch(/^\S+Z {2}default {2}owner@example\.com created the API key ci\n$/)
  })

  it('have a scope and an expiry, which can be changed', async () => {
    const made = await json('keys', 'create', 'reader', '--scope', 'READ', '--expires', '90d')
    expect(made).toMatchObject({ code: 0, value: { name: 'reader', scope: 'READ' } })
    const { id, secret } = made.value
    const listed = (await json('keys', 'list')).value.find((key: { id: string }) => key.id === id)
    expect(listed).toMatchObject({ scope: 'READ' })
    expect(Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)).toBeGreaterThan(89 * 86_400_000)
    const record = () => tollgate(['record', 'ann', 'seats'], { ...env, TOLLGATE_API_KEY: secret })
    expect(await record()).toMatchObject({ code: 1, stderr: expect.stringContaining('USAGE') })

    expect(await run('keys', 'update', id, '--scope', 'USAGE', '--no-expires')).toMatchObject({
      code: 0,
      stdout: `Updated ${id}: reader, scope USAGE, does not expire.\n`,
    })
    expect((await record()).code).toBe(0)
    expect((await run('keys', 'update', id)).stderr).toMatch(/^tollgate: Nothing to change/)
    expect((await run('keys', 'create', 'x', '--scope', 'SOME')).stderr).toMatch(/Allowed choices are ALL/)
  })

  it('belong to the app that is named', async () => {
    await createApp(server, 'shop')
    expect((await json('keys', 'list', '--app', 'shop')).value).toHaveLength(1)
    expect((await run('keys', 'create', 'x', '--app', 'none')).stderr).toMatch(/^tollgate: App not found/)
  })
})

it('clock moves a test clock by a length of time or to a time, forward only', async () => {
  await createApp(server, 'clocked', { testClock: true })
  const { value: before } = await json('clock', 'show', 'clocked')
  expect(before).toMatchObject({ id: 'clocked', testClock: true })
  const { value: after } = await json('clock', 'advance', 'clocked', '+30d')
  expect(Date.parse(after.now) - Date.parse(before.now)).toBeGreaterThanOrEqual(30 * 86_400_000)
  expect((await run('clock', 'advance', 'clocked', '2040-01-01')).stdout).toMatch(
    /^2040-01-01T00:00:\S+ \(test clock of clocked\)\n$/,
  )
  expect((await run('clock', 'advance', 'clocked', '2030-01-01')).code).toBe(1)
  expect((await run('clock', 'advance', 'clocked', 'soon')).stderr).toMatch(/^tollgate: The time must be/)
  expect((await run('clock', 'advance', 'default', '+1d')).code).toBe(1)
  expect((await run('clock', 'show')).stdout).toMatch(/^\S+Z \(real time of default\)\n$/)
})

describe('users import', () => {
  const file = async (text: string) => {
    const path = join(folder, 'users.csv')
    await writeFile(path, text)
    return path
  }
  const emailOf = async (id: string) =>
    (await server.admin.data('query ($id: String!) { user(id: $id) { email } }', { id })).user.email

  it('checks first, then applies what is valid, and exits with 2 for invalid rows', async () => {
    const path = await file('id,email\nann,new@example.com\nnobody,x@example.com\nbob,wrong\n')
    const report = [
      `${path}: 3 rows, 0 new users, 1 with changes, 0 without, 2 invalid.`,
      '  line 3: The user does not exist',
      '  line 4: email is not a valid email address: "wrong"',
    ]
    expect(await run('users', 'import', path, '--existing-only', '--dry-run')).toEqual({
      code: 2,
      stdout: `${report.join('\n')}\n`,
      stderr: '',
    })
    expect(await emailOf('ann')).toBe('ann@example.com')
    expect(await run('users', 'import', path, '--existing-only', '--yes')).toEqual({
      code: 2,
      stdout: `${[...report, 'Created 0 users, changed 1 user.'].join('\n')}\n`,
      stderr: '',
    })
    expect(await emailOf('ann')).toBe('new@example.com')
  })

  it('creates users whose ids are unknown', async () => {
    const path = await file('id,name,email\nnewcomer,New Comer,new.comer@example.com\n')
    expect(await run('users', 'import', path, '--yes')).toMatchObject({
      code: 0,
      stdout: `${path}: 1 rows, 1 new users, 0 with changes, 0 without, 0 invalid.\nCreated 1 user, changed 0 users.\n`,
    })
    expect(await emailOf('newcomer')).toBe('new.comer@example.com')
  })

  it('takes other columns, clears what is empty if asked to, and exits with 0', async () => {
    const path = await file('customer,mail\nann,\n')
    const columns = ['--id-column', 'customer', '--email-column', 'mail', '--yes']
    expect((await json('users', 'import', path, ...columns)).value).toMatchObject({
      unchanged: 1,
      applied: 0,
    })
    expect(await json('users', 'import', path, ...columns, '--clear-empty')).toMatchObject({
      code: 0,
      value: { rows: 1, changed: 1, applied: 1, refused: 0, bad: 0, dryRun: false },
    })
    expect(await emailOf('ann')).toBeNull()
  })

  it('refuses a file that it cannot read, and one that is no list of users', async () => {
    expect(await run('users', 'import', join(folder, 'none.csv'), '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot be read \(ENOENT\)\.\n$/),
    })
    expect(await run('users', 'import', folder, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not a file\.\n$/),
    })
    const path = await file('name\nAnn\n')
    expect(await run('users', 'import', path, '--yes')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^tollgate: .*id/),
    })
  })
})

describe('audit', () => {
  it('prints the newest entries, oldest first, and filters them', async () => {
    const { stdout } = await run('audit', '--json', '--limit', '3')
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries).toHaveLength(3)
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).sort())
    expect(entries.at(-1)).toMatchObject({ operation: 'signIn', actor: OWNER.email })
    expect((await run('audit', '--since', '2090-01-01')).stdout).toBe('')
    expect((await run('audit', '--since', 'yesterday')).code).toBe(1)
  })

  it('follows new entries until Ctrl-C, and then signs out', async () => {
    const before = await sessions()
    const child = spawnTollgate(['audit', '--follow', '--limit', '1', '--operation', 'createApiKey'], env)
    let printed = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    await vi.waitUntil(() => printed.includes('created the API key'), 60_000)
    await server.dashboard.data('mutation { createApiKey(appId: "default", name: "followed") { id } }')
    await vi.waitUntil(() => printed.includes('created the API key followed'), 60_000)
    const ended = once(child, 'close')
    child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    expect(printed.match(/followed/g)).toHaveLength(1)
    expect(await sessions()).toBe(before)
  })
})

it('no command leaves a session behind, even if it fails', async () => {
  const before = await sessions()
  await run('clock', 'show')
  await run('clock', 'show', 'none')
  expect(await sessions()).toBe(before)
})
