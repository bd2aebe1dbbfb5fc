import { readdir, readlink } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { type ImportBody, type Importing, startImporting, USERS_BEFORE, usersOf } from '../harness/import.ts'

let imports: Importing
beforeAll(async () => {
  imports = await startImporting()
})
afterAll(() => imports?.server.stop())

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
    const app = await imports.newApp()
    const query: Record<string, string> = form.includes('another order') ? { billingId: 'Billing ID' } : {}
    expect(await imports.send(app, body, query)).toEqual({
      status: 200,
      import: expect.stringMatching(/^imp_/),
      dryRun: false,
      rows: 3,
      changed: 2,
      created: 0,
      unchanged: 1,
      bad: 0,
      badRows: [],
      badRowsLeftOut: 0,
    })
    expect(await usersOf(app)).toEqual(AFTER)
  })

  const BAD: [row: string | Uint8Array<ArrayBuffer>, problem: string, id: string | null][] = [
    ['nobody,n@x.example,', 'UNKNOWN_USER', 'nobody'],
    [',n@x.example,', 'UNKNOWN_USER', null],
    ['bob,not an address,', 'BAD_EMAIL', 'bob'],
    ['bob,two@at@x.example,', 'BAD_EMAIL', 'bob'],
    [`bob,${'x'.repeat(1_020)}@x.example,`, 'TOO_LONG', 'bob'],
    [`${'b'.repeat(256)},b@x.example,`, 'TOO_LONG', null],
    [`bob,,${'c'.repeat(256)}`, 'TOO_LONG', 'bob'],
    ['bob,b\u0000ob@x.example,', 'BAD_EMAIL', 'bob'],
    ['bob,bob@x.example\u0000,', 'BAD_EMAIL', 'bob'],
    ['bob,b\u0007ob@x.example,', 'BAD_EMAIL', 'bob'],
    ['bob,,a\u0007b', 'BAD_BILLING_ID', 'bob'],
    ['bob,,cus\u0000bob', 'BAD_BILLING_ID', 'bob'],
    ['b\u0000ob,b@x.example,', 'UNKNOWN_USER', null],
    ['ann,again@x.example,', 'DUPLICATE_ID', 'ann'],
    ['bob,,cus_first', 'DUPLICATE_BILLING_ID', 'bob'],
    ['bob,,cus_ann', 'BILLING_ID_TAKEN', 'bob'],
    ['bob,b@x.example', 'WRONG_COLUMN_COUNT', null],
    ['bob,b@x.example,,', 'WRONG_COLUMN_COUNT', null],
    [new Uint8Array([0x62, 0x6f, 0x62, 0x2c, 0xff, 0x40, 0x78, 0x2c]), 'INVALID_ENCODING', null],
  ]
  it.for(BAD)('leaves out a bad row and says which: %s is %s', async ([row, problem, id]) => {
    const app = await imports.newApp()
    // Ann gives hers up only in the row that a taken one is not tried with.
    const first = problem === 'BILLING_ID_TAKEN' ? 'ann,first@x.example,' : 'ann,first@x.example,cus_first'
    const body = Buffer.concat([
      Buffer.from(`id,email,billingId\n${first}\n`),
      typeof row === 'string' ? Buffer.from(row) : row,
      Buffer.from('\ncarl,last@x.example,\n'),
    ])
    const answer = await imports.send(app, new Uint8Array(body))
    expect(answer).toMatchObject({ status: 200, rows: 3, changed: 2, unchanged: 0, bad: 1 })
    expect(answer.badRows).toEqual([{ line: 3, id, problem, message: expect.stringMatching(/^.{10,180}$/) }])
    // What is wrong is shown, in a form that a line can hold.
    if (['BAD_EMAIL', 'BAD_BILLING_ID', 'TOO_LONG'].includes(problem)) {
      const [, shown = ''] = /: "(.*)"$/.exec(answer.badRows[0].message) ?? []
      const cells = String(row)
        .split(',')
        .map((cell) => JSON.stringify(cell).slice(1, -1))
      expect(cells.some((cell) => cell === shown || cell.startsWith(shown.replace(/…$/, '')))).toBe(true)
      expect(shown.length).toBeGreaterThan(2)
    }
    const { ann, bob, carl } = await usersOf(app)
    expect([ann?.[0], bob, carl?.[0]]).toEqual(['first@x.example', USERS_BEFORE.bob, 'last@x.example'])
  })

  it('leaves a billing id alone that is being charged, as updateUser does', async () => {
    const app = await imports.newApp()
    const at = { connectionString: imports.server.databaseUrl }
    const charge = (live: boolean) =>
      rowsOf(
        at,
        `insert into provider_subscription (app_id, provider, ref, user_uid, customer_ref, status, made_at, paid_at, live)
         select app_id, 'stripe', 'sub_1', uid, billing_id, 'active', now(), now(), $2 from users
         where app_id = $1 and id = 'ann' on conflict (app_id, provider, ref) do update set live = $2`,
        [app.id, live],
      )
    await charge(true)
    const answer = await imports.send(
      app,
      'id,email,billingId\nann,ann@new.example,cus_other\nbob,,cus_bob\n',
    )
    expect(answer).toMatchObject({ changed: 1, bad: 1 })
    expect(answer.badRows).toMatchObject([{ line: 2, id: 'ann', problem: 'BILLING_ID_CHARGED' }])
    expect((await usersOf(app)).ann).toEqual(USERS_BEFORE.ann)
    const same = await imports.send(app, 'id,email,billingId\nann,ann@new.example,cus_ann\n')
    expect(same).toMatchObject({ changed: 1, bad: 0 })

    // And one that is bought for between the dry run and the import.
    await charge(false)
    const seen = await imports.send(app, 'id,billingId\nann,cus_other\n', { dryRun: 'true' })
    expect(seen).toMatchObject({ changed: 1, bad: 0 })
    await charge(true)
    await app.dashboard.call('applyUserImport', { id: seen.import })
    expect((await usersOf(app)).ann).toEqual(['ann@new.example', 'cus_ann'])
  })

  it('tells the line where a row begins, also after rows of several lines', async () => {
    const answer = await imports.send(
      await imports.newApp(),
      'id,email\n"a\nb\nc",x@x.example\n\nnobody,n@x.example\n',
    )
    expect(answer.badRows.map((row: Data) => [row.line, row.problem])).toEqual([
      [2, 'UNKNOWN_USER'],
      [6, 'UNKNOWN_USER'],
    ])
  })

  it('an unclosed quote spoils what follows it, and is reported by its line', async () => {
    const app = await imports.newApp()
    const open = await imports.send(
      app,
      'id,email\nann,ann@new.example\nbob,"b@x.example\ncarl,c@x.example\n',
    )
    expect(open).toMatchObject({ status: 200, rows: 2, changed: 1, bad: 1 })
    expect(open.badRows).toMatchObject([{ line: 3, problem: 'BAD_QUOTES' }])
    const long = await imports.send(app, `id,email\nann,"${'x\n'.repeat(10_000)}`)
    expect(long).toMatchObject({ status: 200, changed: 0 })
    expect(long.badRows[0]).toMatchObject({ line: 2, problem: 'BAD_QUOTES' })
    expect((await usersOf(app)).bob).toEqual(USERS_BEFORE.bob)
  })

  it('an empty cell keeps a value, or clears it on request', async () => {
    const app = await imports.newApp()
    const body = 'id,email,billingId\nann,,\n'
    expect(await imports.send(app, body)).toMatchObject({ changed: 0, unchanged: 1 })
    expect(await usersOf(app)).toEqual(USERS_BEFORE)
    expect(await imports.send(app, body, { empty: 'clear' })).toMatchObject({ changed: 1 })
    expect((await usersOf(app)).ann).toEqual([null, null])
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
    const answer = await imports.send(await imports.newApp(), body, query)
    expect(answer.status).toBe(status)
    expect(answer.errors[0].message).toMatch(message)
  })

  it('asks for a session, for its own pages and for POST', async () => {
    const app = await imports.newApp()
    const post = (headers: Record<string, string>, method = 'POST') =>
      fetch(`${imports.server.url}/dashboard/import/users?app=${app.id}`, {
        method,
        headers,
        ...(method === 'POST' && { body: 'id,email\nann,evil@x.example\n' }),
      })
    expect((await post({})).status).toBe(401)
    expect((await post({ Cookie: imports.cookie, Origin: 'https://evil.example.com' })).status).toBe(403)
    expect((await post({ Cookie: imports.cookie }, 'GET')).status).toBe(405)
    expect(await usersOf(app)).toEqual(USERS_BEFORE)
    expect((await post({ Cookie: imports.cookie, Origin: imports.server.url })).status).toBe(200)
  })
})

describe('gap: imports: the uploaded file', () => {
  it.runIf(process.platform === 'linux')(
    'has no name while it is received, so that nothing is left of it when the process is killed',
    async () => {
      const app = await imports.newApp()
      let finish = () => {}
      const body = new ReadableStream({
        start(stream) {
          stream.enqueue(new TextEncoder().encode('id,email\nann,ann@n'))
          finish = () => {
            stream.enqueue(new TextEncoder().encode('ew.example\n'))
            stream.close()
          }
        },
      })
      const answer = imports.send(app, body)
      await vi.waitFor(async () => {
        const open = await Promise.all(
          (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
        )
        const files = open.filter((path) => path.includes('tollgate-import-'))
        expect(files).toEqual([expect.stringMatching(/ \(deleted\)$/)])
      })
      finish()
      expect(await answer).toMatchObject({ status: 200 })
      expect(await usersOf(app)).toMatchObject({ ann: ['ann@new.example', 'cus_ann'] })
    },
  )
})
