import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify/sync'
import { badRequest, badUserInput } from '../domain/errors.ts'
import { MAX_IMPORT_BYTES } from '../domain/limits.ts'
import type { Call, MemberActor } from '../operations/call/call.ts'
import type { Service } from '../operations/call/service.ts'
import { importReport, userImport } from '../operations/imports/apply-import.ts'
import type { Columns } from '../operations/imports/csv-rows.ts'
import { importUsers } from '../operations/imports/import-users.ts'
import type { UserImportRow } from '../store/imports/user-import-rows.ts'
import { answerJson } from './answer.ts'
import { type MemberFile, memberFile, parameter } from './member-file.ts'
import { requestIdOf } from './request-id.ts'

/** Files that the dashboard uploads and downloads, for which GraphQL is unsuitable. */
export function importEndpoint(service: Service, publicUrl: () => string) {
  const file = (method: MemberFile['method'], mutation: MemberFile['mutation'], handle: Handle) =>
    memberFile(service, publicUrl, { method, mutation, handle: inApp(handle) })
  return {
    /** `POST /dashboard/import/users?app=ID` with a CSV file. */
    upload: file('POST', 'importUsers', async ({ actor, ...rest }, query, request, response) => {
      const id = query.get('import') ?? `imp_${randomUUID()}`
      const mutation = { name: 'importUsers' as const, args: { appId: rest.appId, id } }
      const call = { ...rest, actor: { ...actor, mutation } }
      const order = {
        id,
        columns: columnsOf(query),
        create: query.has('create') ? flag(query, 'create') : null,
        dryRun: flag(query, 'dryRun'),
        empty: emptyCells(query.get('empty')),
      }
      const answer = await spooled(request, (content, bytes) =>
        importUsers(call, { ...order, bytes }, content),
      )
      answerJson({ request, response, requestId: requestIdOf(request.headers) ?? randomUUID() }, 200, answer)
    }),

    /** `GET /dashboard/import/report?app=ID&import=ID`: every row and its outcome. */
    report: file('GET', null, async (call, query, _request, response) => {
      const id = parameter(query, 'import')
      await userImport(call, id)
      response.writeHead(200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="import-report.csv"',
        'Cache-Control': 'no-store',
      })
      await pipeline(Readable.from(reportText(importReport(call, id))), response)
    }),
  }
}

type Handle = (
  call: Call<MemberActor>,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse,
) => Promise<void>

/** A file of one app. */
const inApp =
  (handle: Handle): MemberFile['handle'] =>
  (call, query, request, response) =>
    handle({ ...call, appId: parameter(query, 'app'), idempotency: null }, query, request, response)

/**
 * Receives the whole file before processing its rows: a browser sends faster than rows are looked up, and the request
 * should not stay open that long. The file is unlinked, so it disappears when this process ends.
 */
async function spooled<T>(
  request: IncomingMessage,
  use: (content: AsyncIterable<Buffer>, bytes: number) => Promise<T>,
): Promise<T> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_IMPORT_BYTES) throw tooLarge()
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-import-'))
  const file = await open(join(folder, 'file.csv'), 'w+').finally(() =>
    rm(folder, { recursive: true, force: true }),
  )
  try {
    let bytes = 0
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_IMPORT_BYTES) throw tooLarge()
      await file.appendFile(chunk)
    }
    return await use(contentOf(file), bytes)
  } finally {
    await file.close()
  }
}

const PIECE_BYTES = 64 * 1024

async function* contentOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let at = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

const tooLarge = () =>
  badUserInput(`The file must be at most ${MAX_IMPORT_BYTES} bytes. Split it into several files.`)

/** Columns are found by these names, unless a parameter names another. */
const columnsOf = (query: URLSearchParams): Columns => ({
  id: query.get('id') ?? 'id',
  email: query.get('email') ?? 'email',
  billingId: query.get('billingId') ?? 'billingId',
  name: query.get('name') ?? 'name',
  plan: query.get('plan') ?? 'plan',
  metadata: query.get('metadata') ?? 'metadata',
})

const flag = (query: URLSearchParams, name: string): boolean =>
  ['1', 'true', ''].includes(query.get(name) ?? 'no')

function emptyCells(value: string | null): 'keep' | 'clear' {
  if (value === null || value === 'keep') return 'keep'
  if (value === 'clear') return value
  throw badRequest('empty must be keep or clear')
}

const COLUMNS = [
  ['line', (row) => row.line],
  ['id', (row) => row.userId],
  ['outcome', (row) => row.outcome],
  ['problem', (row) => row.problem],
  ['message', (row) => row.message],
  ['oldEmail', (row) => row.oldEmail],
  ['newEmail', (row) => row.newEmail],
  ['oldBillingId', (row) => row.oldBillingId],
  ['newBillingId', (row) => row.newBillingId],
  ['oldName', (row) => row.oldName],
  ['newName', (row) => row.newName],
  ['plan', (row) => row.plan],
  ['oldMetadata', (row) => row.oldMetadata],
  ['newMetadata', (row) => row.newMetadata],
] as const satisfies [string, (row: UserImportRow) => string | number | null][]

async function* reportText(pages: AsyncIterable<UserImportRow[]>): AsyncGenerator<string> {
  // The mark at the beginning tells spreadsheets that this is UTF-8.
  yield `\ufeff${COLUMNS.map(([name]) => name).join(',')}\r\n`
  for await (const rows of pages) {
    yield stringify(
      rows.map((row) => COLUMNS.map(([, of]) => of(row))),
      { quoted: true, quoted_empty: true, record_delimiter: '\r\n', escape_formulas: true },
    )
  }
}
