import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { KEPT_IMPORTS } from '../../src/domain/limits.ts'
import type { TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf, untilSomebodyWaits, withConnection } from '../harness/database.ts'
import { type Importing, startImporting, USERS_BEFORE, usersOf } from '../harness/import.ts'
import { schemaOfUser } from '../harness/one-cell.ts'
import { onCluster } from '../harness/one-server.ts'
import { PATIENCE_MS } from '../harness/patience.ts'

let imports: Importing
beforeAll(async () => {
  imports = await startImporting()
})
afterAll(() => imports?.server.stop())

const IMPORT = `query ($appId: String!, $id: String!) { userImport(appId: $appId, id: $id) {
  state failure rows bad unchanged changed applied refused undone kept bytesTotal bytesRead finishedAt } }`

/** Waits until nothing of it is under way. */
async function finished({ id: appId, dashboard }: TestApp, id: string): Promise<Data> {
  for (;;) {
    const { userImport } = await dashboard.data(IMPORT, { appId, id })
    if (!/ING$/.test(userImport.state)) return userImport
    await delay(20)
  }
}

/** No names, plans and metadata. */
const NOTHING_ELSE = '"","","","",""'

describe('gap: a dry run, its report and the way back', () => {
  const FILE =
    'id,email,billingId\nann,ann@new.example,cus_new\nnobody,n@x.example,\nbob,bob@old.example,\ncarl,c@x.example,cus_c\n'
  const ROWS = `query ($appId: String!, $id: String!, $outcome: ImportOutcome) {
    userImportRows(appId: $appId, id: $id, outcome: $outcome, first: 2) { next rows {
      line userId user { text subject { kind id } } outcome problem oldEmail newEmail oldBillingId newBillingId } } }`
  const start = (app: TestApp, name: string, id: string) =>
    app.dashboard.ask(
      `mutation ($appId: String!, $id: String!) { ${name}(appId: $appId, id: $id) { state } }`,
      {
        appId: app.id,
        id,
      },
    )

  it('shows what it would do, does it when told to, and undoes it', async () => {
    const app = await imports.newApp()
    const answer = await imports.send(app, FILE, { dryRun: '1', import: 'mine' })
    expect(answer).toMatchObject({ import: 'mine', dryRun: true, rows: 4, changed: 2, unchanged: 1, bad: 1 })
    expect(await usersOf(app)).toEqual(USERS_BEFORE)
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
          user: { text: 'ann', subject: { kind: 'USER', id: 'ann' } },
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
    const bad = await app.dashboard.data(ROWS, { appId: app.id, id: 'mine', outcome: 'BAD' })
    expect(bad.userImportRows.rows).toMatchObject([
      { userId: 'nobody', user: { text: 'nobody', subject: null } },
    ])

    expect((await start(app, 'undoUserImport', 'mine')).errors?.[0]?.message).toMatch(
      /^This import is CHECKED/,
    )
    expect((await start(app, 'applyUserImport', 'mine')).data?.applyUserImport.state).toBe('APPLYING')
    expect(await finished(app, 'mine')).toMatchObject({
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
    expect(await usersOf(app)).toMatchObject({
      ann: ['ann@new.example', 'cus_new'],
      carl: ['c@x.example', 'cus_c'],
    })

    const having = async (outcome: string) => {
      const { userImportRows } = await app.dashboard.data(ROWS, { appId: app.id, id: 'mine', outcome })
      return userImportRows.rows.map(({ userId }: Data) => userId)
    }
    expect([await having('CHANGE'), await having('APPLIED'), await having('UNDONE')]).toEqual([
      [],
      ['ann', 'carl'],
      [],
    ])
    expect((await start(app, 'applyUserImport', 'mine')).errors).toHaveLength(1)
    await start(app, 'undoUserImport', 'mine')
    expect(await finished(app, 'mine')).toMatchObject({ state: 'UNDONE', undone: 2, kept: 0 })
    expect([await having('APPLIED'), await having('UNDONE')]).toEqual([[], ['ann', 'carl']])
    expect(await usersOf(app)).toEqual(USERS_BEFORE)
  })

  it('skips users changed in the meantime, when applying and when undoing', async () => {
    const app = await imports.newApp()
    await imports.send(app, FILE, { dryRun: '1', import: 'first' })
    await imports.send(app, 'id,email\nann,ann@between.example\n')
    await start(app, 'applyUserImport', 'first')
    expect(await finished(app, 'first')).toMatchObject({ applied: 1, refused: 1 })
    await imports.send(app, 'id,email\ncarl,c@later.example\n')
    await start(app, 'undoUserImport', 'first')
    expect(await finished(app, 'first')).toMatchObject({ undone: 0, kept: 1 })
    expect(await usersOf(app)).toMatchObject({
      ann: ['ann@between.example', 'cus_ann'],
      carl: ['c@later.example', 'cus_c'],
    })
    const { userImportRows } = await app.dashboard.data(ROWS, { appId: app.id, id: 'first', outcome: 'KEPT' })
    expect(userImportRows.rows).toMatchObject([{ userId: 'carl', problem: 'CHANGED_SINCE' }])
  })

  it('skips a billing id taken in the meantime, and applies the rest', async () => {
    const app = await imports.newApp()
    await imports.send(app, 'id,billingId\nann,cus_1\nbob,cus_2\ncarl,cus_3\n', {
      dryRun: '1',
      import: 'taken',
    })
    await app.admin.data('mutation { createUser(input: { id: "dora", billingId: "cus_2" }) { id } }')
    await start(app, 'applyUserImport', 'taken')
    expect(await finished(app, 'taken')).toMatchObject({ state: 'APPLIED', applied: 2, refused: 1 })
    const after = await usersOf(app)
    expect([after.ann?.[1], after.bob?.[1], after.carl?.[1]]).toEqual(['cus_1', null, 'cus_3'])
  })

  describe.skipIf(onCluster)(
    'skips a billing id that is taken at the same instant, and applies the rest',
    () => {
      /** Has another writer take cus_2, who commits once the import waits for them. */
      const takenDuring = <T>(app: TestApp, importing: () => Promise<T>): Promise<T> => {
        const connection = { connectionString: imports.server.databaseUrl }
        return withConnection(connection, async (client) => {
          await client.query('begin')
          await client.query(
            `insert into users (app_id, id, metadata, billing_id) values ($1, 'dan', '{}', 'cus_2')`,
            [app.id],
          )
          const answer = importing()
          await untilSomebodyWaits(connection.connectionString)
          await client.query('commit')
          return answer
        })
      }
      const AFTER = {
        ann: ['ann@old.example', 'cus_1'],
        bob: ['bob@old.example', null],
        carl: [null, 'cus_3'],
        dan: [null, 'cus_2'],
      }

      it('of an import that was tried first', async () => {
        const app = await imports.newApp()
        await imports.send(app, 'id,billingId\nann,cus_1\nbob,cus_2\ncarl,cus_3\n', {
          dryRun: '1',
          import: 'raced',
        })
        await takenDuring(app, () => start(app, 'applyUserImport', 'raced'))
        expect(await finished(app, 'raced')).toMatchObject({ state: 'APPLIED', applied: 2, refused: 1 })
        expect(await usersOf(app)).toMatchObject(AFTER)
      })

      it('of one that is applied at once, whose answer counts and lists it with the bad rows', async () => {
        const app = await imports.newApp()
        const file = 'id,billingId\nann,cus_1\nbob,cus_2\ncarl,cus_3\nann,cus_4\n'
        const answer = await takenDuring(app, () => imports.send(app, file))
        expect(answer).toMatchObject({ status: 200, rows: 4, changed: 2, bad: 2, badRowsLeftOut: 0 })
        expect(answer.badRows).toMatchObject([
          { line: 3, id: 'bob', problem: 'BILLING_ID_TAKEN' },
          { line: 5, id: 'ann', problem: 'DUPLICATE_ID' },
        ])
        expect(await usersOf(app)).toMatchObject(AFTER)
      })
    },
  )

  it('the report has every row, and no cell of it is a formula', async () => {
    const app = await imports.newApp()
    await app.admin.data('mutation { createUser(input: { id: "=1+1", email: "old@x.example" }) { id } }')
    await imports.send(
      app,
      'id,email\n=1+1,+2@x.example\n@SUM(A1),n@x.example\nann,"a,b@x.example"\n＝2+3,w@x.example\n',
      {
        import: 'report',
      },
    )
    const address = `${imports.server.url}/dashboard/import/report?app=${app.id}&import=report`
    const response = await fetch(address, { headers: { Cookie: imports.cookie } })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toContain('attachment')
    const [header, ...rows] = new TextDecoder()
      .decode(await response.arrayBuffer())
      .trimEnd()
      .split('\r\n')
    expect(header).toBe(
      'line,id,outcome,problem,message,oldEmail,newEmail,oldBillingId,newBillingId,oldName,newName,plan,oldMetadata,newMetadata',
    )
    expect(rows).toEqual([
      `"2","'=1+1","APPLIED","","","old@x.example","'+2@x.example","","",${NOTHING_ELSE}`,
      `"3","'@SUM(A1)","BAD","UNKNOWN_USER","The user does not exist","","","","",${NOTHING_ELSE}`,
      `"4","ann","APPLIED","","","ann@old.example","a,b@x.example","cus_ann","cus_ann",${NOTHING_ELSE}`,
      `"5","'＝2+3","BAD","UNKNOWN_USER","The user does not exist","","","","",${NOTHING_ELSE}`,
    ])
    expect((await fetch(address)).status).toBe(401)
    expect((await fetch(`${address}s`, { headers: { Cookie: imports.cookie } })).status).toBe(404)
  })

  it('one whose process died is resumed where it stopped', async () => {
    const app = await imports.newApp()
    await imports.send(app, FILE, { dryRun: '1', import: 'left' })
    await rowsOf(
      { connectionString: imports.server.databaseUrl },
      `update user_import set state = 'APPLYING', touched_at = now() - interval '2 minutes' where id = 'left'`,
    )
    await start(app, 'applyUserImport', 'left')
    expect(await finished(app, 'left')).toMatchObject({ state: 'APPLIED', applied: 2 })
  })

  it.skipIf(onCluster).each([
    ['apply', 'CHECKED', 'APPLIED'],
    ['undo', 'APPLIED', 'UNDONE'],
  ])('one that is cut short is shown as it was, and another %s does the rest', async (way, before, after) => {
    const app = await imports.newApp()
    const connection = { connectionString: imports.server.databaseUrl }
    const name = `${way}UserImport`
    const query = { import: 'cut', ...(way === 'apply' && { dryRun: '1' }) }
    await imports.send(app, FILE, query)
    const stateNow = async () => (await app.dashboard.data(IMPORT, { appId: app.id, id: 'cut' })).userImport
    // Its process died.
    await rowsOf(
      connection,
      `update user_import set state = $2, touched_at = now() - interval '2 minutes' where app_id = $1`,
      [app.id, way === 'apply' ? 'APPLYING' : 'UNDOING'],
    )
    expect(await stateNow()).toMatchObject({
      state: before,
      failure: expect.stringContaining('The server was stopped'),
    })
    // Its connection is cut.
    await withConnection(connection, async (client) => {
      const schema = await schemaOfUser(imports.server.databaseUrl, app.id, 'carl')
      await client.query('begin')
      await client.query(`select from ${schema}.users where app_id = $1 and id = 'carl' for update`, [app.id])
      await start(app, name, 'cut')
      const cut = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      await vi.waitUntil(async () => (await rowsOf(connection, cut)).length > 0, PATIENCE_MS)
      await client.query('commit')
    })
    expect(await finished(app, 'cut')).toMatchObject({
      state: before,
      failure: `Internal error. ${way === 'apply' ? 'Apply' : 'Undo'} the import again to process the remaining rows.`,
    })
    await start(app, name, 'cut')
    expect(await finished(app, 'cut')).toMatchObject({ state: after, failure: null, applied: 2 })
    const changed = { ann: ['ann@new.example', 'cus_new'], carl: ['c@x.example', 'cus_c'] }
    expect(await usersOf(app)).toMatchObject(way === 'apply' ? changed : USERS_BEFORE)
  })

  it('one whose reader died has failed, and a slow one continues', async () => {
    const app = await imports.newApp()
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
        { connectionString: imports.server.databaseUrl },
        `update user_import set touched_at = now() - interval '2 minutes' where app_id = $1`,
        [app.id],
      )
    // Its rows are looked up only once the users can be read.
    const other = new pg.Client({ connectionString: imports.server.databaseUrl })
    await other.connect()
    try {
      await other.query('begin; lock table users in access exclusive mode')
      const answer = imports.send(app, FILE, { dryRun: '1', import: 'slow' })
      await vi.waitFor(
        async () => expect(await stateOf('slow')).toEqual({ state: 'READING', failure: null }),
        PATIENCE_MS,
      )
      await silence()
      expect(await stateOf('slow')).toEqual({
        state: 'FAILED',
        failure: 'The server stopped while reading the file. Upload it again.',
      })
      // As soon as its reader is heard of again.
      await vi.waitFor(async () => expect((await stateOf('slow')).state).toBe('READING'), PATIENCE_MS)
      await other.query('commit')
      expect(await answer).toMatchObject({ status: 200, changed: 2 })
      await silence()
      expect(await stateOf('slow')).toEqual({ state: 'CHECKED', failure: null })
    } finally {
      await other.end()
    }
  })

  it('the oldest beyond those that are kept is off the list at once, its rows go later', async () => {
    const app = await imports.newApp()
    await imports.send(app, FILE, { dryRun: '1', import: 'oldest' })
    await rowsOf(
      { connectionString: imports.server.databaseUrl },
      `insert into user_import (app_id, id, state, member_email) select $1, 'i' || n, 'CHECKED', 'x' from generate_series(2, $2::int) n`,
      [app.id, KEPT_IMPORTS],
    )
    const left = async () => {
      const [row] = await rowsOf<{ rows: string }>(
        { connectionString: imports.server.databaseUrl },
        `select (select count(*) from user_import_row where app_id = $1 and import_id = 'oldest')
          + (select count(*) from user_import where app_id = $1 and id = 'oldest') as rows`,
        [app.id],
      )
      return Number(row?.rows)
    }
    // One of its rows cannot be deleted now: nobody waits for that.
    const other = new pg.Client({ connectionString: imports.server.databaseUrl })
    await other.connect()
    try {
      await other.query(
        `begin; select from user_import_row where app_id = '${app.id}' and import_id = 'oldest' for update`,
      )
      expect(await imports.send(app, FILE, { dryRun: '1', import: 'newest' })).toMatchObject({ status: 200 })
      const userImports = await app.dashboard.call('userImports { id }')
      const ids = userImports.map(({ id }: Data) => id)
      expect([ids.length, ids[0], ids.at(-1)]).toEqual([KEPT_IMPORTS, 'newest', 'i2'])
      expect((await app.dashboard.error(IMPORT, { appId: app.id, id: 'oldest' })).extensions.status).toBe(404)
      expect(await left()).toBe(5)
      // Until they are gone, its id is taken.
      expect((await imports.send(app, FILE, { import: 'oldest' })).status).toBe(400)
      await other.query('commit')
    } finally {
      await other.end()
    }
    await vi.waitFor(async () => expect(await left()).toBe(0), PATIENCE_MS)
    expect(await imports.send(app, FILE, { dryRun: '1', import: 'oldest' })).toMatchObject({ status: 200 })
  })

  it('one that is still being read stays, however many come after it', async () => {
    const app = await imports.newApp()
    const connection = { connectionString: imports.server.databaseUrl }
    const stateOf = async (id: string) =>
      (await app.dashboard.ask(IMPORT, { appId: app.id, id })).data?.userImport?.state
    const [slow, later] = await withConnection(connection, async (client) => {
      // Its rows are looked up only once the users can be read.
      await client.query('begin; lock table users in access exclusive mode')
      const answer = imports.send(app, FILE, { import: 'slow' })
      await vi.waitUntil(async () => (await stateOf('slow')) === 'READING', PATIENCE_MS)
      await rowsOf(
        connection,
        `insert into user_import (app_id, id, state, member_email) select $1, 'i' || n, 'CHECKED', 'x' from generate_series(1, $2::int) n`,
        [app.id, KEPT_IMPORTS],
      )
      const next = imports.send(app, FILE, { dryRun: '1', import: 'later' })
      await vi.waitUntil(async () => (await stateOf('later')) === 'READING', PATIENCE_MS)
      await client.query('commit')
      return [await answer, await next] as const
    })
    expect(slow).toMatchObject({ status: 200, changed: 2 })
    expect(later).toMatchObject({ status: 200 })
    expect(await stateOf('slow')).toBe('APPLIED')
    // The next one finds it done.
    await imports.send(app, FILE, { dryRun: '1' })
    expect(await stateOf('slow')).toBeUndefined()
  })

  it('an id is used once, and a failed one says why', async () => {
    const app = await imports.newApp()
    await imports.send(app, 'nothing\n', { import: 'twice' })
    expect(await finished(app, 'twice')).toMatchObject({
      state: 'FAILED',
      failure: expect.stringContaining('no column "id"'),
    })
    expect((await imports.send(app, FILE, { import: 'twice' })).errors[0].message).toBe(
      'An import with the id "twice" already exists',
    )
    const { extensions } = await app.dashboard.error(IMPORT, { appId: app.id, id: 'none' })
    expect(extensions).toMatchObject({ code: 'IMPORT_NOT_FOUND', status: 404 })
  })

  it('rows beyond one batch: 5,000 with a bad one in every hundred, and back again', async () => {
    const app = await imports.newApp()
    const count = 5_000
    await rowsOf(
      { connectionString: imports.server.databaseUrl },
      `insert into users (app_id, id, metadata) select $1, 'u' || n, '{}' from generate_series(1, $2::int) n`,
      [app.id, count],
    )
    const lines = Array.from(
      { length: count },
      (_, i) => `u${i + 1},${(i + 1) % 100 === 0 ? 'bad' : `u${i + 1}@x.example`}`,
    )
    const answer = await imports.send(app, `id,email\n${lines.join('\n')}`, { import: 'many' })
    expect(answer).toMatchObject({ rows: count, changed: count - 50, bad: 50 })
    expect(answer.badRows.map((row: Data) => row.line)).toEqual(
      Array.from({ length: 50 }, (_, i) => (i + 1) * 100 + 1),
    )
    await start(app, 'undoUserImport', 'many')
    expect(await finished(app, 'many')).toMatchObject({ state: 'UNDONE', undone: count - 50 })
    const [left] = await rowsOf<{ count: string }>(
      { connectionString: imports.server.databaseUrl },
      `select count(*) from users where app_id = $1 and email like 'u%'`,
      [app.id],
    )
    expect(Number(left?.count)).toBe(0)
  })
})
