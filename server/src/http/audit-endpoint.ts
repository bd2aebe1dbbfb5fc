import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { badRequest } from '../domain/errors.ts'
import type { Service } from '../operations/call/service.ts'
import { actorName, type DescribedEntry } from '../operations/home/describe-entries.ts'
import { exportAuditLog } from '../operations/members/audit-log.ts'
import { ACTOR_KINDS } from '../store/audit/audit.ts'
import { csvPages } from './csv-pages.ts'
import { memberFile } from './member-file.ts'

const FORMATS = {
  csv: {
    type: 'text/csv; charset=utf-8',
    text: (pages: AsyncIterable<DescribedEntry[]>) => csvPages(COLUMNS, pages),
  },
  ndjson: { type: 'application/x-ndjson; charset=utf-8', text: asNdjson },
}

/** `GET /dashboard/audit?format=csv&app=ID&…`: exports the entries shown on the page with the same filters. */
export function auditEndpoint(service: Service, publicUrl: () => string) {
  return memberFile(service, publicUrl, {
    method: 'GET',
    mutation: 'exportAuditLog',
    async handle(call, query, _request, response) {
      const name = query.get('format') ?? 'csv'
      if (name !== 'csv' && name !== 'ndjson') throw badRequest('format must be csv or ndjson')
      const actorKind = query.get('kind')
      const kind = ACTOR_KINDS.find((one) => one === actorKind) ?? null
      if (actorKind !== null && kind === null)
        throw badRequest(`kind must be one of ${ACTOR_KINDS.join(', ')}`)
      const appId = query.get('app') || null
      const pages = await exportAuditLog(appId === null ? call : { ...call, appId, idempotency: null }, {
        appId,
        actorKind: kind,
        who: query.get('who'),
        operation: query.get('operation'),
        subjectId: query.get('subject'),
        from: query.get('from'),
        to: query.get('to'),
      })
      const { type, text } = FORMATS[name]
      response.writeHead(200, {
        'Content-Type': type,
        'Content-Disposition': `attachment; filename="audit-log.${name}"`,
        'Cache-Control': 'no-store',
      })
      await pipeline(Readable.from(text(pages), { highWaterMark: 1 }), response)
    },
  })
}

const COLUMNS = [
  ['at', (row) => new Date(row.at).toISOString()],
  ['actorKind', (row) => row.actorKind],
  ['actor', actorName],
  ['actorId', (row) => row.memberEmail],
  ['source', (row) => row.source],
  ['app', (row) => row.appId],
  ['operation', (row) => row.operation],
  ['sentence', (row) => row.sentence],
  ['subjectKind', (row) => row.subjectKind],
  ['subjectId', (row) => row.subjectId],
  ['before', (row) => row.before],
  ['after', (row) => row.after],
] as const satisfies [string, (row: DescribedEntry) => unknown][]

async function* asNdjson(pages: AsyncIterable<DescribedEntry[]>): AsyncGenerator<string> {
  for await (const rows of pages) {
    yield rows
      .map((row) => `${JSON.stringify(Object.fromEntries(COLUMNS.map(([name, of]) => [name, of(row)])))}\n`)
      .join('')
  }
}
