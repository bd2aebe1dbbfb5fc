import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { KEPT_IMPORTS } from '../../src/domain/limits.ts'
import type { TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { type ImportBody, sessionCookie, upload } from '../harness/import.ts'
import { createApp, startTestServer, type TestServer } from '../harness/server.ts'

let server: TestServer
let cookie: string
beforeAll(async () => {
  server = await startTestServer()
  cookie = await sessionCookie(server)
})
afterAll(() => server?.stop())

let apps = 0
/** An app with ann (ann@old.example, cus_ann), bob (bob@old.example) and carl, who has neither. */
async function newApp(): Promise<TestApp> {
  const id = `import-${++apps}`
  const admin = await createApp(server, id)
  await admin.data(`mutation {
    ann: createUser(input: { id: "ann", email: "ann@old.example", billingId: "cus_ann" }) { id }
    bob: createUser(input: { id: "bob", email: "bob@old.example" }) { id }
    carl: createUser(input: { id: "carl" }) { id }
  }`)
  return { id, admin, dashboard: server.dashboard }
}

const send = (app: TestApp, body: ImportBody, query: Record<string, string> = {}) =>
  upload(server, cookie, { app: app.id, ...query }, body)

/** Address and billing id of each user. */
async function users({ admin }: TestApp): Promise<Record<string, (string | null)[]>> {
  const { users } = await admin.data('{ users { id email billingId } }')
  return Object.fromEntries(users.map((user: Data) => [user.id, [user.email, user.billingId]]))
}

const BEFORE = { ann: ['ann@old.example', 'cus_ann'], bob: ['bob@old.example', null], carl: [null, null] }

const IMPORT = `query ($appId: String!, $id: String!) { userImport(appId: $appId, id: $id) {
  state failure rows bad unchanged changed applied refused undone kept bytesTotal bytesRead finishedAt } }`

/** Waits until nothing of it is under way. */
async function settled({ id: appId, dashboard }: TestApp, id: string): Promise<Data> {
  for (;;) {
    const { userImport } = await dashboard.data(IMPORT, { appId, id })
    if (!/ING$/.test(userImport.state)) return userImport
    await delay(20)
  }
}

const utf16 = (text: string, bigEndian: boolean): Uint8Array<ArrayBuffer> => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return new Uint8Array(bigEndian ? bytes.swap16() : bytes)
}

describe('spec §2 UpdateUserInput: email and billingId change by a CSV import in the dashboard', () => {
  const FILE =
    'id,email,billingId\nann,ann@new.example,cus_new\nbob,bob@old.example,\n"carl","c""@x.example",cus_c\n'
  const AFTER = {
    ann: ['ann@new.example', 'cus_new'],
    bob: ['bob@old.example', null],
    carl: ['c"@x.example', 'cus_c'],
  }
  const FORMS: Record<string, ImportBody> = {
    plain: FILE,
    'without a last line break': FILE.trimEnd(),
    CRLF: FILE.replaceAll('\n', '\r\n'),
    'a byte order mark': `\ufeff${FILE}`,
    'UTF-16, little end first': utf16(FILE, false),
    'UTF-16, big end first': utf16(FILE, true),
    'semicolons, as some countries have them': FILE.replaceAll(',', ';'),
    'tabs, as spreadsheets save Unicode': utf16(FILE.replaceAll(',', '\t'), false),
    'empty lines, blanks and columns in another order':
      '\n Billing ID ,x, EMAIL,Id\n\ncus_new,, ann@new.example ,ann\n,,bob@old.example,bob\ncus_c,,"c""@x.example",carl\n',
  }
  it.for(Object.entries(FORMS))('takes a file with %s', async ([form, body]) => {
    const app = await newApp()
    const query: Record<string, string> = form.includes('another order') ? { billingId: 'Billing ID' } : {}
    expect(await send(app, body, query)).toEqual({
      status: 200,
      import: expect.stringMatching(/^imp_/),
      dryRun: false,
      rows: 3,
      changed: 2,
      unchanged: 1,
      bad: 0,
      badRows: [],
      badRowsLeftOut: 0,
    })
    expect(await users(app)).toEqual(AFTER)
  })

  const BAD: [row: string | Uint8Array<ArrayBuffer>, problem: string, id: string | null][] = [
    ['nobody,n@x.example,', 'UNKNOWN_USER', 'nobody'],
    [',n@x.example,', 'UNKNOWN_USER', null],
    ['bob,not an address,', 'BAD_EMAIL', 'bob'],
    ['bob,two@at@x.example,', 'BAD_EMAIL', 'bob'],
    [`bob,${'x'.repeat(1_020)}@x.example,`, 'TOO_LONG', 'bob'],
    [`${'b'.repeat(256)},b@x.example,`, 'TOO_LONG', null],
    [`bob,,${'c'.repeat(256)}`, 'TOO_LONG', 'bob'],
    ['bob,,a\u0007b', 'BAD_BILLING_ID', 'bob'],
    ['ann,again@x.example,', 'DUPLICATE_ID', 'ann'],
    ['bob,,cus_first', 'DUPLICATE_BILLING_ID', 'bob'],
    ['bob,,cus_ann', 'BILLING_ID_TAKEN', 'bob'],
    ['bob,b@x.example', 'WRONG_COLUMN_COUNT', null],
    ['bob,b@x.example,,', 'WRONG_COLUMN_COUNT', null],
    [new Uint8Array([0x62, 0x6f, 0x62, 0x2c, 0xff, 0x40, 0x78, 0x2c]), 'INVALID_ENCODING', null],
  ]
  it.for(BAD)('leaves out a bad row and says which: %s is %s', async ([row, problem, id]) => {
    const app = await newApp()
    // Ann gives hers up only in the row that a taken one is not tried with.
    const first = problem === 'BILLING_ID_TAKEN' ? 'ann,first@x.example,' : 'ann,first@x.example,cus_first'
    const body = Buffer.concat([
      Buffer.from(`id,email,billingId\n${first}\n`),
      typeof row === 'string' ? Buffer.from(row) : row,
      Buffer.from('\ncarl,last@x.example,\n'),
    ])
    const answer = await send(app, new Uint8Array(body))
    expect(answer).toMatchObject({ status: 200, rows: 3, changed: 2, unchanged: 0, bad: 1 })
    expect(answer.badRows).toEqual([{ line: 3, id, problem, message: expect.stringMatching(/^.{10,120}$/) }])
    const { ann, bob, carl } = await users(app)
    expect([ann?.[0], bob, carl?.[0]]).toEqual(['first@x.example', BEFORE.bob, 'last@x.example'])
  })

  it('tells the line where a row begins, also after rows of several lines', async () => {
    const answer = await send(await newApp(), 'id,email\n"a\nb\nc",x@x.example\n\nnobody,n@x.example\n')
    expect(answer.badRows.map((row: Data) => [row.line, row.problem])).toEqual([
      [2, 'UNKNOWN_USER'],
      [6, 'UNKNOWN_USER'],
    ])
  })

  it('a quote that is never closed spoils what follows it, and is told by its line', async () => {
    const app = await newApp()
    const open = await send(app, 'id,email\nann,ann@new.example\nbob,"b@x.example\ncarl,c@x.example\n')
    expect(open).toMatchObject({ status: 200, rows: 2, changed: 1, bad: 1 })
    expect(open.badRows).toMatchObject([{ line: 3, problem: 'BAD_QUOTES' }])
    const long = await send(app, `id,email\nann,"${'x\n'.repeat(10_000)}`)
    expect(long).toMatchObject({ status: 200, changed: 0 })
    expect(long.badRows[0]).toMatchObject({ line: 2, problem: 'BAD_QUOTES' })
    expect((await users(app)).bob).toEqual(BEFORE.bob)
  })

  it('an empty cell leaves a value as it is, or takes it away where that is asked for', async () => {
    const app = await newApp()
    const body = 'id,email,billingId\nann,,\n'
    expect(await send(app, body)).toMatchObject({ changed: 0, unchanged: 1 })
    expect(await users(app)).toEqual(BEFORE)
    expect(await send(app, body, { empty: 'clear' })).toMatchObject({ changed: 1 })
    expect((await users(app)).ann).toEqual([null, null])
  })

  const REFUSED: [body: string, query: Record<string, string>, status: number, message: RegExp][] = [
    ['', {}, 400, /^The file is empty/],
    ['name,email\nann,a@x.example\n', {}, 400, /^The file has no column "id"; it has "name", "email"$/],
    ['id,mail\nann,a@x.example\n', {}, 400, /has no column "email" and no column "billingId"/],
    ['id,email\n', { app: 'nowhere' }, 404, /^App not found/],
    ['id,email\n', { empty: 'maybe' }, 400, /^empty must be keep or clear/],
    ['id,email\n', { app: '' }, 400, /\?app=/],
  ]
  it.for(REFUSED)('refuses %j with %j', async ([body, query, status, message]) => {
    const answer = await send(await newApp(), body, query)
    expect(answer.status).toBe(status)
    expect(answer.errors[0].message).toMatch(message)
  })

  it('asks for a session, for its own pages and for POST', async () => {
    const app = await newApp()
    const post = (headers: Record<string, string>, method = 'POST') =>
      fetch(`${server.url}/dashboard/import/users?app=${app.id}`, {
        method,
        headers,
        ...(method === 'POST' && { body: 'id,email\nann,evil@x.example\n' }),
      })
    expect((await post({})).status).toBe(401)
    expect((await post({ Cookie: cookie, Origin: 'https://evil.example.com' })).status).toBe(403)
    expect((await post({ Cookie: cookie }, 'GET')).status).toBe(405)
    expect(await users(app)).toEqual(BEFORE)
    expect((await post({ Cookie: cookie, Origin: server.url })).status).toBe(200)
  })
})

describe('gap: a dry run, its report and the way back', () => {
  const FILE =
    'id,email,billingId\nann,ann@new.example,cus_new\nnobody,n@x.example,\nbob,bob@old.example,\ncarl,c@x.example,cus_c\n'
  const ROWS = `query ($appId: String!, $id: String!, $outcome: ImportOutcome) {
    userImportRows(appId: $appId, id: $id, outcome: $outcome, first: 2) { next rows {
      line userId outcome problem oldEmail newEmail oldBillingId newBillingId } } }`
  const start = (app: TestApp, name: string, id: string) =>
    app.dashboard.ask(
      `mutation ($appId: String!, $id: String!) { ${name}(appId: $appId, id: $id) { state } }`,
      {
        appId: app.id,
        id,
      },
    )

  it('shows what it would do, does it when told to, and takes it back', async () => {
    const app = await newApp()
    const answer = await send(app, FILE, { dryRun: '1', import: 'mine' })
    expect(answer).toMatchObject({ import: 'mine', dryRun: true, rows: 4, changed: 2, unchanged: 1, bad: 1 })
    expect(await users(app)).toEqual(BEFORE)
    const { userImportRows } = await app.dashboard.data(ROWS, {
      appId: app.id,
      id: 'mine',
      outcome: 'CHANGE',
    })
    expect(userImportRows).toEqual({
      next: null,
      rows: [
        {
          line: 2,
          userId: 'ann',
          outcome: 'CHANGE',
          problem: null,
          oldEmail: 'ann@old.example',
          newEmail: 'ann@new.example',
          oldBillingId: 'cus_ann',
          newBillingId: 'cus_new',
        },
        expect.objectContaining({ line: 5, userId: 'carl', oldEmail: null, newEmail: 'c@x.example' }),
      ],
    })

    expect((await start(app, 'undoUserImport', 'mine')).errors?.[0]?.message).toMatch(
      /^This import is CHECKED/,
    )
    expect((await start(app, 'applyUserImport', 'mine')).data?.applyUserImport.state).toBe('APPLYING')
    expect(await settled(app, 'mine')).toMatchObject({
      state: 'APPLIED',
      rows: 4,
      bad: 1,
      changed: 2,
      applied: 2,
      refused: 0,
      bytesTotal: FILE.length,
      bytesRead: FILE.length,
      finishedAt: expect.any(String),
    })
    expect(await users(app)).toMatchObject({
      ann: ['ann@new.example', 'cus_new'],
      carl: ['c@x.example', 'cus_c'],
    })

    expect((await start(app, 'applyUserImport', 'mine')).errors).toHaveLength(1)
    await start(app, 'undoUserImport', 'mine')
    expect(await settled(app, 'mine')).toMatchObject({ state: 'UNDONE', undone: 2, kept: 0 })
    expect(await users(app)).toEqual(BEFORE)
  })

  it('leaves alone who was changed meanwhile, on the way and on the way back', async () => {
    const app = await newApp()
    await send(app, FILE, { dryRun: '1', import: 'first' })
    await send(app, 'id,email\nann,ann@between.example\n')
    await start(app, 'applyUserImport', 'first')
    expect(await settled(app, 'first')).toMatchObject({ applied: 1, refused: 1 })
    await send(app, 'id,email\ncarl,c@later.example\n')
    await start(app, 'undoUserImport', 'first')
    expect(await settled(app, 'first')).toMatchObject({ undone: 0, kept: 1 })
    expect(await users(app)).toMatchObject({
      ann: ['ann@between.example', 'cus_ann'],
      carl: ['c@later.example', 'cus_c'],
    })
    const { userImportRows } = await app.dashboard.data(ROWS, { appId: app.id, id: 'first', outcome: 'KEPT' })
    expect(userImportRows.rows).toMatchObject([{ userId: 'carl', problem: 'CHANGED_SINCE' }])
  })

  it('passes over a billing id that somebody took meanwhile, and applies the rest', async () => {
    const app = await newApp()
    await send(app, 'id,billingId\nann,cus_1\nbob,cus_2\ncarl,cus_3\n', { dryRun: '1', import: 'taken' })
    await app.admin.data('mutation { createUser(input: { id: "dora", billingId: "cus_2" }) { id } }')
    await start(app, 'applyUserImport', 'taken')
    expect(await settled(app, 'taken')).toMatchObject({ state: 'APPLIED', applied: 2, refused: 1 })
    const after = await users(app)
    expect([after.ann?.[1], after.bob?.[1], after.carl?.[1]]).toEqual(['cus_1', null, 'cus_3'])
  })

  it('the report has every row, and no cell of it is a formula', async () => {
    const app = await newApp()
    await app.admin.data('mutation { createUser(input: { id: "=1+1", email: "old@x.example" }) { id } }')
    await send(app, 'id,email\n=1+1,+2@x.example\n@SUM(A1),n@x.example\nann,"a,b@x.example"\n', {
      import: 'report',
    })
    const address = `${server.url}/dashboard/import/report?app=${app.id}&import=report`
    const response = await fetch(address, { headers: { Cookie: cookie } })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toContain('attachment')
    const [header, ...rows] = new TextDecoder()
      .decode(await response.arrayBuffer())
      .trimEnd()
      .split('\r\n')
    expect(header).toBe('line,id,outcome,problem,message,oldEmail,newEmail,oldBillingId,newBillingId')
    expect(rows).toEqual([
      `"2","'=1+1","APPLIED","","","old@x.example","'+2@x.example","",""`,
      `"3","'@SUM(A1)","BAD","UNKNOWN_USER","There is no user with this id","","","",""`,
      `"4","ann","APPLIED","","","ann@old.example","a,b@x.example","cus_ann","cus_ann"`,
    ])
    expect((await fetch(address)).status).toBe(401)
    expect((await fetch(`${address}s`, { headers: { Cookie: cookie } })).status).toBe(404)
  })

  it('one whose process died is taken up where it was left', async () => {
    const app = await newApp()
    await send(app, FILE, { dryRun: '1', import: 'left' })
    await rowsOf(
      { connectionString: server.databaseUrl },
      `update user_import set state = 'APPLYING', touched_at = now() - interval '2 minutes' where id = 'left'`,
    )
    await start(app, 'applyUserImport', 'left')
    expect(await settled(app, 'left')).toMatchObject({ state: 'APPLIED', applied: 2 })
  })

  it('one whose reader died has failed, and one that is slow goes on', async () => {
    const app = await newApp()
    const stateOf = async (id: string) => {
      const { userImport, userImports } = await app.dashboard.data(
        `query ($appId: String!, $id: String!) {
          userImport(appId: $appId, id: $id) { state failure } userImports(appId: $appId) { state failure } }`,
        { appId: app.id, id },
      )
      expect(userImports).toEqual([userImport])
      return userImport
    }
    const silence = () =>
      rowsOf(
        { connectionString: server.databaseUrl },
        `update user_import set touched_at = now() - interval '2 minutes' where app_id = $1`,
        [app.id],
      )
    // Its rows are looked up only once the users can be read.
    const other = new pg.Client({ connectionString: server.databaseUrl })
    await other.connect()
    try {
      await other.query('begin; lock table users in access exclusive mode')
      const answer = send(app, FILE, { dryRun: '1', import: 'slow' })
      await vi.waitFor(async () => expect(await stateOf('slow')).toEqual({ state: 'READING', failure: null }))
      await silence()
      expect(await stateOf('slow')).toEqual({
        state: 'FAILED',
        failure: 'The server stopped while reading; upload the file again',
      })
      // As soon as its reader is heard of again.
      await vi.waitFor(async () => expect((await stateOf('slow')).state).toBe('READING'), 30_000)
      await other.query('commit')
      expect(await answer).toMatchObject({ status: 200, changed: 2 })
      await silence()
      expect(await stateOf('slow')).toEqual({ state: 'CHECKED', failure: null })
    } finally {
      await other.end()
    }
  })

  it('the oldest beyond those that are kept is off the list at once, its rows go later', async () => {
    const app = await newApp()
    await send(app, FILE, { dryRun: '1', import: 'oldest' })
    await rowsOf(
      { connectionString: server.databaseUrl },
      `insert into user_import (app_id, id, state, member_email) select $1, 'i' || n, 'CHECKED', 'x' from generate_series(2, $2::int) n`,
      [app.id, KEPT_IMPORTS],
    )
    const left = async () => {
      const [row] = await rowsOf<{ rows: string }>(
        { connectionString: server.databaseUrl },
        `select (select count(*) from user_import_row where app_id = $1 and import_id = 'oldest')
          + (select count(*) from user_import where app_id = $1 and id = 'oldest') as rows`,
        [app.id],
      )
      return Number(row?.rows)
    }
    // One of its rows cannot be deleted now: nobody waits for that.
    const other = new pg.Client({ connectionString: server.databaseUrl })
    await other.connect()
    try {
      await other.query(
        `begin; select from user_import_row where app_id = '${app.id}' and import_id = 'oldest' for update`,
      )
      expect(await send(app, FILE, { dryRun: '1', import: 'newest' })).toMatchObject({ status: 200 })
      const { userImports } = await app.dashboard.data(
        'query ($appId: String!) { userImports(appId: $appId) { id } }',
        { appId: app.id },
      )
      const ids = userImports.map(({ id }: Data) => id)
      expect([ids.length, ids[0], ids.at(-1)]).toEqual([KEPT_IMPORTS, 'newest', 'i2'])
      expect((await app.dashboard.error(IMPORT, { appId: app.id, id: 'oldest' })).extensions.status).toBe(404)
      expect(await left()).toBe(5)
      // Until they are gone, its id is taken.
      expect((await send(app, FILE, { import: 'oldest' })).status).toBe(400)
      await other.query('commit')
    } finally {
      await other.end()
    }
    await vi.waitFor(async () => expect(await left()).toBe(0), 30_000)
    expect(await send(app, FILE, { dryRun: '1', import: 'oldest' })).toMatchObject({ status: 200 })
  })

  it('an id is used once, and a failed one says why', async () => {
    const app = await newApp()
    await send(app, 'nothing\n', { import: 'twice' })
    expect(await settled(app, 'twice')).toMatchObject({
      state: 'FAILED',
      failure: expect.stringContaining('no column "id"'),
    })
    expect((await send(app, FILE, { import: 'twice' })).errors[0].message).toBe(
      'An import with the id "twice" exists already',
    )
    const { extensions } = await app.dashboard.error(IMPORT, { appId: app.id, id: 'none' })
    expect(extensions).toMatchObject({ code: 'IMPORT_NOT_FOUND', status: 404 })
  })

  it('rows beyond one batch: 5,000 with a bad one in every hundred, and back again', async () => {
    const app = await newApp()
    const count = 5_000
    await rowsOf(
      { connectionString: server.databaseUrl },
      `insert into users (app_id, id, metadata) select $1, 'u' || n, '{}' from generate_series(1, $2::int) n`,
      [app.id, count],
    )
    const lines = Array.from(
      { length: count },
      (_, i) => `u${i + 1},${(i + 1) % 100 === 0 ? 'bad' : `u${i + 1}@x.example`}`,
    )
    const answer = await send(app, `id,email\n${lines.join('\n')}`, { import: 'many' })
    expect(answer).toMatchObject({ rows: count, changed: count - 50, bad: 50 })
    expect(answer.badRows.map((row: Data) => row.line)).toEqual(
      Array.from({ length: 50 }, (_, i) => (i + 1) * 100 + 1),
    )
    await start(app, 'undoUserImport', 'many')
    expect(await settled(app, 'many')).toMatchObject({ state: 'UNDONE', undone: count - 50 })
    const [left] = await rowsOf<{ count: string }>(
      { connectionString: server.databaseUrl },
      `select count(*) from users where app_id = $1 and email like 'u%'`,
      [app.id],
    )
    expect(Number(left?.count)).toBe(0)
  })
})
