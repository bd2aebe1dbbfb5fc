import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { Client, signedIn } from '../harness/client.ts'
import { makeDataFolder } from '../harness/data-folder.ts'
import { createEmptyDatabase, rowsOf } from '../harness/database.ts'
import { API_KEY, OWNER, runMain } from '../harness/server.ts'
import { BARE, GIVEN, printedBy, starts, works } from '../harness/starts.ts'
import { usedDataFolder } from '../harness/used-data.ts'

const { cleanUp, cleanups, newDatabase, start, startProcess } = starts()
afterEach(cleanUp)

describe('the way back', () => {
  const NEW_PASSWORD = 'another good password'
  const RESET = `mutation ($token: String!, $password: String!) { resetPassword(token: $token, password: $password) { email } }`
  const newKeyIn = (output: string) => /API_KEY=(\S+)/.exec(output)?.[1] ?? ''
  const resetIn = (output: string) => /\/reset#token=(\S+)/.exec(output)?.[1]

  it('gap: starting: --new-key prints another key, whether the service runs or not; the old ones go on working', async () => {
    const folder = await usedDataFolder()
    cleanups.push(folder.remove)
    const env = { ...BARE, TOLLGATE_API_KEY: API_KEY, TOLLGATE_DATA_DIR: folder.path }
    const server = await startProcess(env, '--new-key')
    const first = newKeyIn(server.output())
    expect([await works(server, first), await works(server, API_KEY)]).toEqual([true, true])

    const beside = await runMain(env, '--new-key', '--app', 'default')
    expect(beside).toMatchObject({ code: 0, stderr: '' })
    expect(beside.stdout).toContain('already running')
    const second = newKeyIn(beside.stdout)
    expect(second).not.toBe(first)
    expect([await works(server, first), await works(server, second)]).toEqual([true, true])
    expect(await runMain(env, '--new-key', '--app', 'nobody’s')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tollgate: The app "nobody’s" does not exist. Existing apps: default.\n',
    })
    const noted = await rowsOf(
      await folder.connection(),
      `select member_email, operation, after->>'name' as name from audit_entry order by seq`,
    )
    expect(noted).toEqual(
      [1, 2].map(() => ({
        member_email: 'the command line',
        operation: 'createApiKey',
        name: 'From the command line',
      })),
    )
  })

  it('gap: starting: --reset-owner prints a link that sets the password, once', async () => {
    const env = { ...GIVEN, ...(await newDatabase(createEmptyDatabase)) }
    const server = await start(env)
    const dashboard = await signedIn(server.url, OWNER)
    const { stdout } = await runMain(env, '--reset-owner')
    const token = resetIn(stdout)
    const { auditLog } = await dashboard.data('{ auditLog(first: 1) { rows { operation memberEmail } } }')
    expect(auditLog.rows).toEqual([{ operation: 'createPasswordReset', memberEmail: 'the command line' }])
    const visitor = () => new Client(`${server.url}/dashboard/graphql`, {})
    expect(await visitor().data(RESET, { token, password: NEW_PASSWORD })).toEqual({
      resetPassword: { email: OWNER.email },
    })
    expect(await dashboard.data('{ me { email } }')).toEqual({ me: null })
    expect((await visitor().error(RESET, { token, password: NEW_PASSWORD })).extensions.code).toBe(
      'UNAUTHENTICATED',
    )
    await signedIn(server.url, { ...OWNER, password: NEW_PASSWORD })
    expect((await runMain(env, '--reset-owner', 'x@example.com')).stderr).toBe(
      `tollgate: "x@example.com" is not an owner. Owners: ${OWNER.email}.\n`,
    )
    await server.stop()

    const started = await startProcess(env, '--reset-owner', OWNER.email)
    const again = new Client(`${started.url}/dashboard/graphql`, {})
    await again.data(RESET, { token: resetIn(started.output()), password: OWNER.password })
    expect(printedBy(started)).toEqual({ key: undefined, token: undefined })
  })

  it('gap: starting: without an owner, --reset-owner prints the link for the first one', async () => {
    const env = { ...BARE, ...(await newDatabase(createEmptyDatabase)) }
    const { ownerToken } = (await start(env)).firstStart
    expect((await runMain(env, '--reset-owner')).stdout).toContain(`/setup#token=${ownerToken} `)
  })

  it('gap: starting: an unknown option is answered with the usage, and nothing is started', async () => {
    const { code, stdout, stderr } = await runMain(BARE, '--newkey')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^tollgate: Unknown option '--newkey'\.\nUsage: tollgate start/)
    expect((await runMain(BARE, '--app', 'shop')).stderr).toMatch(
      /^tollgate: These options do not go together\.\nUsage: tollgate start/,
    )
  })

  it('gap: starting: an owner in the settings changes nothing later on, and that is said', async () => {
    const env = { ...GIVEN, ...(await newDatabase(createEmptyDatabase)), TOLLGATE_LOG_LEVEL: 'info' }
    const said = /TOLLGATE_OWNER_EMAIL and TOLLGATE_OWNER_PASSWORD are ignored/
    const first = await startProcess(env)
    expect(first.output()).not.toMatch(said)
    const second = await startProcess({
      ...env,
      TOLLGATE_WORKERS: '2',
      TOLLGATE_OWNER_PASSWORD: NEW_PASSWORD,
    })
    await expect.poll(() => second.output()).toMatch(said)
    await signedIn(second.url, OWNER)
    expect(second.output().match(new RegExp(said, 'g'))).toHaveLength(1)
  })
})

describe('what a start and its end say', () => {
  it('gap: starting: Ctrl-C is one line, also with PostgreSQL inside, which has a process group of its own', async () => {
    const folder = await usedDataFolder()
    cleanups.push(folder.remove)
    const env = {
      ...BARE,
      TOLLGATE_DATA_DIR: folder.path,
      TOLLGATE_LOG_LEVEL: 'info',
      TOLLGATE_LOG_FORMAT: 'text',
    }
    const server = await startProcess({ ...env, DATABSE_URL: 'x' })
    const before = server.output()
    expect(before).toMatch(
      /^\S+ warn {2}DATABSE_URL is not a Tollgate setting: did you mean DATABASE_URL\?$/m,
    )
    expect(before).toMatch(/^\S+ info {2}starting PostgreSQL in /m)
    const { pid } = (await folder.postmaster()) ?? {}
    const { stdout: group } = await promisify(execFile)('ps', ['-o', 'pgid=', '-p', String(pid)])
    expect(Number(group)).toBe(pid)
    expect(await server.kill('SIGINT')).toBe(0)
    expect(server.output().slice(before.length)).toMatch(/^\S+ info {2}stopping signal=SIGINT\n$/)
  })

  it('gap: starting: to a pipe the log is JSON', async () => {
    const server = await startProcess({
      ...GIVEN,
      ...(await newDatabase()),
      TOLLGATE_LOG_LEVEL: 'info',
      TOLLGATE_WROKERS: '2',
    })
    const [line = ''] = server.output().split('\n')
    expect(JSON.parse(line)).toMatchObject({
      level: 40,
      msg: expect.stringMatching(/did you mean TOLLGATE_WORKERS\?$/),
    })
  })
})

describe('the first start', () => {
  it('gap: starting: prints a key that works and the link for the owner; the next start prints no key', async () => {
    const folder = await makeDataFolder()
    cleanups.push(folder.remove)
    const env = { ...BARE, TOLLGATE_DATA_DIR: folder.path }
    const first = await startProcess(env)
    const { key = '', token } = printedBy(first)
    expect(first.output().split(key)).toHaveLength(2)
    expect(await works(first, key)).toBe(true)
    expect(token).toBeTruthy()
    const kept = await rowsOf(await folder.connection(), 'select api_key::text from api_key')
    expect(kept).toHaveLength(1)
    expect(JSON.stringify(kept)).not.toContain(key)
    await first.kill('SIGTERM')

    const second = await startProcess(env)
    expect(printedBy(second)).toEqual({ key: undefined, token })
    expect(await works(second, key)).toBe(true)
  })

  it('gap: starting: several at once on an empty database all come up, and one of them prints the key', async () => {
    const env = { ...BARE, ...(await newDatabase(createEmptyDatabase)) }
    const servers = await Promise.all(Array.from({ length: 4 }, () => startProcess(env)))
    const printed = servers.map(printedBy)
    const keys = printed.flatMap(({ key }) => key ?? [])
    expect(keys).toHaveLength(1)
    expect(new Set(printed.map(({ token }) => token)).size).toBe(1)
    for (const server of servers) expect(await works(server, keys[0] ?? '')).toBe(true)
  })

  it('gap: starting: the owner’s link works once, for anyone with its token', async () => {
    const env = { ...BARE, ...(await newDatabase(createEmptyDatabase)) }
    const server = await start(env)
    const token = server.firstStart.ownerToken
    const visitor = new Client(`${server.url}/dashboard/graphql`, {})
    const setOwner = `mutation ($token: String!, $email: String!, $password: String!) {
      setOwner(token: $token, email: $email, password: $password) { email }
    }`
    const wrong = await visitor.error(setOwner, { ...OWNER, token: `${token}x` })
    expect(wrong.extensions.code).toBe('UNAUTHENTICATED')
    expect(await visitor.data(setOwner, { ...OWNER, token })).toEqual({ setOwner: { email: OWNER.email } })
    const late = await visitor.error(setOwner, {
      email: 'late@example.com',
      password: 'a long password',
      token,
    })
    expect(late.extensions.code).toBe('UNAUTHENTICATED')
    const dashboard = await signedIn(server.url, OWNER)
    expect(await dashboard.data('{ me { email } }')).toEqual({ me: { email: OWNER.email } })
    expect((await start(env)).firstStart).toEqual({ apiKey: null, ownerToken: null })
  })

  it('gap: starting: a configured key and owner are used, and nothing is printed', async () => {
    const server = await start({ ...GIVEN, ...(await newDatabase(createEmptyDatabase)) })
    expect(server.firstStart).toEqual({ apiKey: null, ownerToken: null })
    expect(await works(server, API_KEY)).toBe(true)
    const dashboard = await signedIn(server.url, OWNER)
    expect(await dashboard.data('{ me { email } apps { id } }')).toEqual({
      me: { email: OWNER.email },
      apps: [{ id: 'default' }],
    })
  })

  it('gap: starting: of several owners at once, one becomes it', async () => {
    const env = { ...GIVEN, ...(await newDatabase(createEmptyDatabase)) }
    const owners = ['a@example.com', 'b@example.com', 'c@example.com']
    await Promise.all(owners.map((email) => start({ ...env, TOLLGATE_OWNER_EMAIL: email })))
    const members = await rowsOf({ connectionString: env.DATABASE_URL }, 'select email from member')
    expect(members).toHaveLength(1)
  })
})

describe('TOLLGATE_API_KEY', () => {
  const REFUSED_KEY = 'TOLLGATE_API_KEY is revoked, expired, or belongs to another app. Choose a new key.'

  it('gap: starting: a changed key replaces the previous one, on every process', async () => {
    const env = { ...GIVEN, ...(await newDatabase()) }
    const first = await start({ ...env, TOLLGATE_API_KEY: 'tg_one_key_of_the_environment' })
    expect(await works(first, 'tg_one_key_of_the_environment')).toBe(true)
    const second = await start({ ...env, TOLLGATE_API_KEY: 'tg_two_key_of_the_environment' })
    for (const server of [first, second]) {
      expect([
        await works(server, 'tg_one_key_of_the_environment'),
        await works(server, 'tg_two_key_of_the_environment'),
      ]).toEqual([false, true])
    }
    const third = await start({ ...env, TOLLGATE_API_KEY: '' })
    expect([third.firstStart.apiKey, await works(third, 'tg_two_key_of_the_environment')]).toEqual([
      null,
      true,
    ])
  })

  it('gap: starting: the key generated by the first start may be set for the next', async () => {
    const env = { ...BARE, ...(await newDatabase()) }
    const key = (await start(env)).firstStart.apiKey ?? ''
    expect(await works(await start({ ...env, TOLLGATE_API_KEY: key }), key)).toBe(true)
    const third = await start({ ...env, TOLLGATE_API_KEY: 'tg_another_key_of_the_environment' })
    expect([await works(third, key), await works(third, 'tg_another_key_of_the_environment')]).toEqual([
      true,
      true,
    ])
  })

  it('gap: starting: a key of another app, or one that was revoked, is refused', async () => {
    const env = { ...GIVEN, ...(await newDatabase()) }
    const server = await start(env)
    const dashboard = await signedIn(server.url, OWNER)
    const { other, revoked } = await dashboard.data(`mutation {
      createApp(id: "other", name: "Other") { id }
      other: createApiKey(appId: "other", name: "x") { secret }
      revoked: createApiKey(appId: "default", name: "x") { id secret }
    }`)
    await dashboard.data(`mutation { revokeApiKey(appId: "default", id: "${revoked.id}") { id } }`)
    for (const { secret } of [other, revoked]) {
      await expect(start({ ...env, TOLLGATE_API_KEY: secret })).rejects.toThrow(REFUSED_KEY)
    }
    expect([await works(server, other.secret), await works(server, revoked.secret)]).toEqual([true, false])
  })

  it('gap: starting: one that was replaced works until its time is over, and is refused then', async () => {
    const env = { ...GIVEN, ...(await newDatabase()) }
    const dashboard = await signedIn((await start(env)).url, OWNER)
    const { made } = await dashboard.data(`mutation {
      made: createApiKey(appId: "default", name: "x") { id secret }
      rotateApiKey(appId: "default", id: "environment", overlapHours: 1) { id }
    }`)
    await dashboard.call('rotateApiKey', { appId: 'default', id: made.id, overlapHours: 1 })
    const keys = [API_KEY, made.secret]
    for (const key of keys)
      expect(await works(await start({ ...env, TOLLGATE_API_KEY: key }), key)).toBe(true)
    await rowsOf(
      { connectionString: env.DATABASE_URL },
      `update api_key set expires_at = expires_at - interval '1 hour'`,
    )
    for (const key of keys)
      await expect(start({ ...env, TOLLGATE_API_KEY: key })).rejects.toThrow(REFUSED_KEY)
  })

  it('gap: starting: one that was revoked stays revoked', async () => {
    const env = { ...GIVEN, ...(await newDatabase()) }
    const server = await start(env)
    const dashboard = await signedIn(server.url, OWNER)
    await dashboard.data('mutation { revokeApiKey(appId: "default", id: "environment") { id } }')
    await expect(start(env)).rejects.toThrow(REFUSED_KEY)
    expect(await works(server, API_KEY)).toBe(false)
    const chosen = 'tg_another_key_of_the_environment'
    expect(await works(await start({ ...env, TOLLGATE_API_KEY: chosen }), chosen)).toBe(true)
  })
})

describe('once it is up', () => {
  it('gap: starting: /healthz and /readyz say so, and an unknown path is 404', async () => {
    const { url } = await start({ ...GIVEN, ...(await newDatabase()) })
    const paths = ['/healthz', '/readyz', '/nowhere', '/graphql/more']
    const answers = await Promise.all(paths.map((path) => fetch(`${url}${path}`)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404])
  })

  it('gap: starting: its links start with TOLLGATE_PUBLIC_URL', async () => {
    const TOLLGATE_PUBLIC_URL = 'https://tollgate.example.com/'
    const { url } = await start({ ...GIVEN, ...(await newDatabase()), TOLLGATE_PUBLIC_URL })
    expect(url).toBe('https://tollgate.example.com')
  })
})
