import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_MUTATIONS } from '../../src/operations/registry/registry.ts'
import { auditEntry, newTurn, readyCall } from '../examples/run.ts'
import { furnishWorld, type World } from '../examples/world.ts'
import { type Client, type Data, dashboardClient, signedIn, type Variables } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { sessionCookie } from '../harness/import.ts'
import { MASTER_KEY_SETTINGS, OWNER, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(() =>
  startTestServer({ env: { ...MASTER_KEY_SETTINGS, TOLLGATE_TRUSTED_PROXIES: '1' } }),
)
let world: World
beforeAll(async () => {
  world = await furnishWorld(server, { ...server, id: 'default' })
})

const LOG = `query ($appId: String, $actorKind: ActorKind, $who: String, $operation: String, $subjectId: String,
    $from: String, $to: String, $first: Int, $after: String) {
  auditLog(appId: $appId, actorKind: $actorKind, who: $who, operation: $operation, subjectId: $subjectId,
    from: $from, to: $to, first: $first, after: $after) {
    next rows { id at actorKind actor memberEmail source appId operation sentence subjectKind subjectId before after } } }`
const pageOf = async (query: Variables): Promise<Data> => (await server.dashboard.data(LOG, query)).auditLog
const rowsFor = async (query: Variables): Promise<Data[]> => (await pageOf(query)).rows
const sql = <Row extends Data>(text: string, values: unknown[] = []) =>
  rowsOf<Row>({ connectionString: server.databaseUrl }, text, values)

/** Usage has a ledger of its own, and a token changes nothing. */
const UNAUDITED = [
  ...['recordUsage', 'recordUsages', 'generateUserToken'],
  ...['reserveUsage', 'extendReservation', 'settleReservation', 'releaseReservation'],
]

it('gap: the audit log is searched by a part of a name, and shows values', async () => {
  await server.admin.data(`mutation {
    createUser(input: { id: "z-1", name: "Zelda Quill" }) { id }
    createFeature(input: { id: "z-2", name: "Quill pens", type: BINARY }) { id }
    updateUser(id: "z-1", input: { name: "Zelda Q." }) { id } }`)
  const sentences = async (subjectId: string) =>
    (await rowsFor({ appId: 'default', subjectId })).map(({ sentence }) => sentence)
  const ofZelda = ['changed the user Zelda Q.: name Zelda Quill → Zelda Q.', 'created the user Zelda Quill']
  expect(await sentences('zelda')).toEqual(ofZelda)
  expect(await sentences('z-1')).toEqual(ofZelda)
  expect(await sentences('QUILL pe')).toEqual(['created the feature Quill pens'])
  expect(await sentences('nobody of this name')).toEqual([])
})

describe('gap: the audit log of API keys', () => {
  it.each(
    ADMIN_MUTATIONS.filter((name) => !UNAUDITED.includes(name)),
  )('says of %s which key made it, and what there was before and after', async (name) => {
    const { apiKeys } = await server.dashboard.data('{ apiKeys(appId: "default") { id name } }')
    const turn = newTurn(world, name)
    const { client, document, variables } = await readyCall('admin', name, turn)
    const [earlier] = await rowsFor({ appId: 'default', first: 1 })
    const keyed = client.with({ 'Idempotency-Key': `audit ${name}` })
    await keyed.data(document, variables)
    // The same request again changes nothing.
    await keyed.data(document, variables)
    const [shown, before] = await rowsFor({ appId: 'default', first: 2 })
    expect(shown).toMatchObject({
      operation: name,
      actorKind: 'API_KEY',
      actor: apiKeys[0].name,
      memberEmail: apiKeys[0].id,
      appId: 'default',
      ...auditEntry(name, turn),
    })
    expect(before?.id, 'one entry').toBe(earlier?.id)
  })

  it('has no entry for what was refused, nor for usage', async () => {
    const [latest] = await rowsFor({ appId: 'default', first: 1 })
    await server.admin.error('mutation { createUser(input: { id: "ann" }) { id } }')
    await server.admin.error('mutation { updateFeature(id: "nothing", input: { name: "N" }) { id } }')
    const usage = '{ userId: "ann", featureId: "calls", delta: 1 }'
    await server.admin.ask(`mutation { recordUsage(input: ${usage}) { recorded } }`)
    await server.admin
      .with({ 'Idempotency-Key': 'u' })
      .ask(`mutation { recordUsages(inputs: [${usage}]) { recorded } }`)
    await server.admin.data('mutation { generateUserToken(userId: "ann") { token } }')
    expect(await rowsFor({ appId: 'default', first: 1 })).toEqual([latest])
  })

  it('tells the change of one key from that of another that raced it', async () => {
    await server.admin.data('mutation { createUser(input: { id: "raced", name: "0" }) { id } }')
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        server.admin.data(`mutation { updateUser(id: "raced", input: { name: "${i + 1}" }) { id } }`),
      ),
    )
    const rows = await rowsFor({ appId: 'default', subjectId: 'raced', operation: 'updateUser' })
    expect(rows).toHaveLength(8)
    // Each change starts from where exactly one other ended.
    const links = new Map(rows.map(({ before, after }) => [before.name, after.name]))
    let name = '0'
    for (let i = 0; i < 8; i++) name = links.get(name) ?? 'torn'
    expect(name).not.toBe('torn')
  })

  it('leaves the home page to people', async () => {
    const latestEvents = await server.dashboard.call('latestEvents { kind text }', { first: 50 })
    const changes = latestEvents.filter(({ kind }: Data) => kind === 'CHANGE')
    expect(new Set(changes.map(({ text }: Data) => text.split(' ')[0]))).toEqual(new Set([OWNER.email]))
  })
})

describe('gap: sign-ins', () => {
  const SIGN_IN =
    'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { id } }'
  const from = (address: string): Client => dashboardClient(server.url).with({ 'X-Forwarded-For': address })

  it('are noted with the address they came from', async () => {
    await from('203.0.113.7').data(SIGN_IN, OWNER)
    const [row] = await rowsFor({ operation: 'signIn', first: 1 })
    expect(row).toMatchObject({
      actorKind: 'MEMBER',
      memberEmail: OWNER.email,
      source: '203.0.113.7',
      sentence: 'signed in',
    })
  })

  it('that failed are counted by account and source, without what was typed', async () => {
    for (let i = 0; i < 3; i++)
      await from('203.0.113.8').ask(SIGN_IN, { ...OWNER, password: 'hunter2 secret' })
    await from('203.0.113.9').ask(SIGN_IN, { email: 'hunter2 typed here', password: 'x' })
    const rows = await rowsFor({ actorKind: 'VISITOR' })
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatchObject({
      actor: 'Somebody',
      memberEmail: '',
      source: '203.0.113.9',
      subjectId: null,
      sentence: 'failed to sign in with an unknown email, once',
    })
    expect(rows[1]).toMatchObject({
      actor: 'Somebody',
      memberEmail: OWNER.email,
      source: '203.0.113.8',
      sentence: `failed to sign in as ${OWNER.email}, 3 times`,
      after: { attempts: 3 },
    })
    expect(JSON.stringify(rows)).not.toContain('hunter2')
  })

  it('of strangers at many addresses do not fill the log, and hide nothing about members', async () => {
    await sql(`insert into audit_entry (app_id, actor_kind, member_email, source, operation, subject_kind, after)
      select '', 'VISITOR', '', 's' || i, 'signInFailed', 'member', '{"attempts":1}' from generate_series(1, 200) i`)
    const count = async () => (await sql(`select from audit_entry where operation = 'signInFailed'`)).length
    const before = await count()
    for (const i of [1, 2, 3])
      await from(`198.51.100.${i}`).ask(SIGN_IN, { email: 'nobody@example.com', password: 'x' })
    expect(await count()).toBe(before + 1)
    const [rest] = await rowsFor({ actorKind: 'VISITOR', first: 1 })
    expect(rest).toMatchObject({ source: null, sentence: 'failed to sign in with an unknown email, 3 times' })
    await from('198.51.100.9').ask(SIGN_IN, { ...OWNER, password: 'wrong' })
    const [last] = await rowsFor({ who: OWNER.email, first: 1 })
    expect(last).toMatchObject({ operation: 'signInFailed', source: '198.51.100.9' })
  })
})

describe('gap: filters of the audit log', () => {
  const NOW = Date.parse('2026-06-01T00:00:00Z')
  const at = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString()
  beforeAll(async () => {
    await server.dashboard.data('mutation { createApp(id: "filtered", name: "Filtered") { id } }')
    await sql(
      `insert into audit_entry (app_id, at, actor_kind, member_email, operation, subject_kind, subject_id)
       select case i % 2 when 0 then 'filtered' else '' end, $1::timestamptz + make_interval(mins => i),
         case i % 3 when 0 then 'MEMBER' else 'API_KEY' end, 'who' || i % 3, 'what' || i % 5, 'feature', 'subject' || i % 7
       from generate_series(1, 420) i`,
      [at(0)],
    )
  })

  /** All pages, as the minutes of their entries. */
  async function minutes(query: Variables): Promise<number[]> {
    const found: number[] = []
    for (let after: string | null = null, page = 0; page === 0 || after !== null; page++) {
      const { rows, next }: Data = await pageOf({ first: 16, ...query, after })
      found.push(...rows.map((row: Data) => (Date.parse(row.at) - NOW) / 60_000))
      after = next
    }
    return found
  }
  const expected = (matches: (i: number) => boolean) =>
    Array.from({ length: 420 }, (_, i) => 420 - i).filter(matches)
  const RANGE = { from: at(1), to: at(421) }

  const CASES: [query: Variables, matches: (i: number) => boolean][] = [
    [{ appId: 'filtered' }, (i) => i % 2 === 0],
    [{ ...RANGE }, () => true],
    [{ ...RANGE, actorKind: 'API_KEY' }, (i) => i % 3 !== 0],
    [{ appId: 'filtered', actorKind: 'MEMBER' }, (i) => i % 6 === 0],
    [{ who: 'who1' }, (i) => i % 3 === 1],
    [{ appId: 'filtered', who: 'who1' }, (i) => i % 2 === 0 && i % 3 === 1],
    [{ operation: 'what4' }, (i) => i % 5 === 4],
    [{ subjectId: 'subject3' }, (i) => i % 7 === 3],
    [
      { appId: 'filtered', subjectId: 'subject3', who: 'who2' },
      (i) => i % 2 === 0 && i % 7 === 3 && i % 3 === 2,
    ],
    [{ who: 'who0', operation: 'what0', subjectId: 'subject0' }, (i) => i % 105 === 0],
    [{ appId: 'filtered', from: at(10), to: at(20) }, (i) => i % 2 === 0 && i >= 10 && i < 20],
    [{ who: 'who1', from: at(100), to: at(200) }, (i) => i % 3 === 1 && i >= 100 && i < 200],
    [{ who: 'nobody' }, () => false],
    [{ who: 'a\u0000b' }, () => false],
  ]
  it.each(CASES)('finds %j, page by page, newest first', async (query, matches) => {
    expect(await minutes(query)).toEqual(expected(matches))
  })

  it('finds what happened to a user under other ids, and to their subscriptions', async () => {
    const { subscribe } = await server.admin.data(`mutation {
      createUser(input: { id: "anne" }) { id }
      updateUser(id: "anne", input: { id: "anna" }) { id }
      subscribe(userId: "anna", packageIds: ["plan"]) { id }
      setOverride(input: { userId: "anna", featureId: "calls", mode: ADD, limit: 5 }) { mode }
    }`)
    await server.admin.data(
      'mutation ($id: String!) { cancelSubscription(id: $id) { id } keepSubscription(id: $id) { id } }',
      { id: subscribe[0].id },
    )
    const rows = await rowsFor({ appId: 'default', subjectId: 'anna', first: 100 })
    const happened = ['createUser', 'updateUser', 'subscribe', 'setOverride']
    const later = ['cancelSubscription', 'keepSubscription']
    expect(rows.map(({ operation }) => operation)).toEqual(expect.arrayContaining([...happened, ...later]))
    expect(rows.find(({ operation }) => operation === 'updateUser')).toMatchObject({
      subjectId: 'anna',
      before: { id: 'anne' },
      after: { id: 'anna' },
    })
  })

  it.each([
    [{ from: 'yesterday' }, /^from must be an ISO 8601 time/],
    [{ to: '+275760-09-13T00:00:00Z' }, /^to must be an ISO 8601 time/],
    [{ after: '17' }, /^after must be the `next` value of a previous page/],
    [{ after: '999999999999999-1' }, /^after must be/],
  ])('refuses %j', async (query, says) => {
    expect((await server.dashboard.error(LOG, query)).message).toMatch(says)
  })
})

describe('gap: the export of the audit log', () => {
  const download = async (query: Record<string, string>, cookie?: string) =>
    fetch(`${server.url}/dashboard/audit?${new URLSearchParams(query)}`, {
      headers: { Cookie: cookie ?? (await sessionCookie(server)) },
    })

  it('has what the filters find, as CSV and as NDJSON, and is noted', async () => {
    await server.admin.data('mutation { createUser(input: { id: "evil", name: "=cmd()" }) { id } }')
    const cookie = await sessionCookie(server)
    const shown = await rowsFor({ appId: 'default', operation: 'createUser', first: 100 })
    const query = { app: 'default', operation: 'createUser' }
    const csv = await download({ ...query, format: 'csv' }, cookie)
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"')
    const text = await csv.text()
    const rows: Record<string, string>[] = parse(text, { columns: true, bom: true })
    expect(rows.map(({ at, sentence }) => [at, sentence])).toEqual(
      shown.map(({ at, sentence }) => [at, sentence]),
    )
    const ndjson = await download({ ...query, format: 'ndjson' }, cookie)
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const lines = (await ndjson.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ at, actorId, after }) => ({ at, memberEmail: actorId, after }))).toEqual(
      shown.map(({ at, memberEmail, after }) => ({ at, memberEmail, after })),
    )
    expect(await rowsFor({ appId: 'default', first: 2 })).toMatchObject(
      [1, 2].map(() => ({
        operation: 'exportAuditLog',
        sentence: 'exported the audit log',
        memberEmail: OWNER.email,
      })),
    )
  })

  it('takes no formula into a spreadsheet', async () => {
    await sql(`insert into audit_entry (app_id, member_email, operation, subject_kind, subject_id)
      values ('filtered', 'x', 'odd', 'feature', '=HYPERLINK("https://evil.example")')`)
    const text = await (await download({ app: 'filtered', operation: 'odd' })).text()
    expect(text).toContain(`"'=HYPERLINK(`)
  })

  it('is whole, however many pages it has', async () => {
    const text = await (await download({ format: 'ndjson', app: 'filtered', who: 'who0' })).text()
    expect(text.trimEnd().split('\n')).toHaveLength(70)
    const all = await (await download({ format: 'ndjson', to: '2026-06-02T00:00:00Z' })).text()
    expect(all.trimEnd().split('\n')).toHaveLength(420)
  })

  it.each([
    [{ format: 'xml' }, 400],
    [{ kind: 'ROBOT' }, 400],
    [{ from: 'x' }, 400],
    [{ app: 'nowhere' }, 404],
  ])('refuses %j', async (query, status) => {
    expect((await download(query)).status).toBe(status)
  })

  it('is for members, by GET', async () => {
    expect((await download({}, '')).status).toBe(401)
    const { headers } = await signedIn(server.url, OWNER)
    expect((await fetch(`${server.url}/dashboard/audit`, { method: 'POST', headers })).status).toBe(405)
  })
})
