import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify/sync'
import { badRequest, badUserInput, TollgateError } from '../domain/errors.ts'
import { MAX_IMPORT_BYTES } from '../domain/limits.ts'
import { wireError } from '../graphql/engine/errors.ts'
import type { Call, MemberActor } from '../operations/call/call.ts'
import { checkMay, notSignedIn } from '../operations/call/member-operations.ts'
import type { Service } from '../operations/call/service.ts'
import { importReport, userImport } from '../operations/imports/apply-import.ts'
import { importUsers } from '../operations/imports/import-users.ts'
import type { UserImportRow } from '../store/user-import-rows.ts'
import { answerJson } from './answer.ts'
import { refuseForeign, visitorOf } from './dashboard-endpoint.ts'
import { requestIdOf } from './request-id.ts'

/** Files that the dashboard uploads and downloads, for which GraphQL is unsuitable. */
export function importEndpoint(service: Service, publicUrl: () => string) {
  return {
    /** `POST /dashboard/import/users?app=ID` with a CSV file. */
    upload: handler(service, publicUrl, 'POST', async (call, query, request, response) => {
      const id = query.get('import') ?? `imp_${randomUUID()}`
      call.actor.operation.args = { appId: call.appId, id }
      const order = {
        id,
        columns: {
          id: query.get('id') ?? 'id',
          email: query.get('email') ?? 'email',
          billingId: query.get('billingId') ?? 'billingId',
        },
        dryRun: flag(query, 'dryRun'),
        empty: emptyCells(query.get('empty')),
      }
      const answer = await spooled(request, (path, bytes) =>
        importUsers(call, { ...order, bytes }, createReadStream(path)),
      )
      answerJson({ request, response, requestId: requestIdOf(request.headers) ?? randomUUID() }, 200, answer)
    }),

    /** `GET /dashboard/import/report?app=ID&import=ID`: every row and its outcome. */
    report: handler(service, publicUrl, 'GET', async (call, query, _request, response) => {
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

/** Unlike the GraphQL endpoints, these report failures by HTTP status too: browsers show it for files. */
function handler(service: Service, publicUrl: () => string, method: 'GET' | 'POST', handle: Handle) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      if (request.method !== method)
        throw new TollgateError('METHOD_NOT_ALLOWED', `Only ${method} is supported here`)
      refuseForeign(request.headers, publicUrl())
      const { member } = await visitorOf(service, request.headers)
      if (method === 'POST') checkMay('mutation', 'importUsers', member)
      if (!member) throw notSignedIn()
      const query = new URL(request.url ?? '/', 'http://localhost').searchParams
      const call: Call<MemberActor> = {
        service,
        appId: parameter(query, 'app'),
        actor: { kind: 'member', member, operation: { name: 'importUsers', args: {} } },
        deadline: null,
        idempotency: null,
      }
      await handle(call, query, request, response)
    } catch (error) {
      const requestId = requestIdOf(request.headers) ?? randomUUID()
      const told = wireError(error, 'BAD_REQUEST', () => {
        service.log.error({ err: error, requestId }, 'request failed')
        return requestId
      })
      if (response.headersSent) response.destroy()
      else answerJson({ request, response, requestId }, told.extensions.status, { errors: [told] })
    }
  }
}

/**
 * Receives the whole file before its rows are processed: a browser sends faster than rows are looked up, and the
 * request should not stay open for that long.
 */
async function spooled<T>(
  request: IncomingMessage,
  use: (path: string, bytes: number) => Promise<T>,
): Promise<T> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_IMPORT_BYTES) throw tooLarge()
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-import-'))
  try {
    const path = join(folder, 'file.csv')
    let bytes = 0
    async function* bounded(): AsyncGenerator<Buffer> {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > MAX_IMPORT_BYTES) throw tooLarge()
        yield chunk
      }
    }
    await pipeline(Readable.from(bounded()), createWriteStream(path))
    return await use(path, bytes)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const tooLarge = () => badUserInput(`The file must be at most ${MAX_IMPORT_BYTES} bytes: import it in parts`)

function parameter(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (!value) throw badRequest(`The URL must contain ?${name}=…`)
  return value
}

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
