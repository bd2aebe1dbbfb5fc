import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { clientSchema } from '../../src/graphql/client/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { openapiDocument } from '../../src/rest/openapi.ts'
import { restOperations } from '../../src/rest/operations.ts'
import { EVENT_STREAM_PATH } from '../../src/rest/routes.ts'

export interface CommittedSchema {
  name: string
  /** as the service builds it now */
  schema: GraphQLSchema
  /** the file that keeps what was agreed on */
  file: string
}

export const SCHEMAS: CommittedSchema[] = [
  { name: 'admin', schema: adminSchema(), file: fileOf('admin') },
  { name: 'client', schema: clientSchema(), file: fileOf('client') },
  { name: 'dashboard', schema: dashboardSchema(), file: fileOf('dashboard') },
]

function fileOf(name: string): string {
  return fileURLToPath(new URL(`../../schema/${name}.graphql`, import.meta.url))
}

/** Sorted, so that moving code about changes nothing. */
export const printed = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`

export const OPENAPI_FILE = fileURLToPath(new URL('../../schema/openapi.json', import.meta.url))

export const openapiText = (): string => `${JSON.stringify(openapiDocument(restOperations()), null, 2)}\n`

export const PYTHON_FILE = fileURLToPath(new URL('../../../examples/python/tollgate.py', import.meta.url))

export const REST_PAGE_FILE = fileURLToPath(new URL('../../../docs/rest.md', import.meta.url))

/** The page about REST, with the table of the routes as they are now. */
export function restPage(): string {
  const byPath = new Map<string, [method: string, name: string][]>()
  for (const { name, route } of restOperations())
    byPath.set(route.path, [...(byPath.get(route.path) ?? []), [route.method, name]])
  byPath.set(EVENT_STREAM_PATH, [['GET', 'streamEvents']])
  const rows = [...byPath].map(([path, all]) => {
    const methods = all.map(([method], i) =>
      i === all.length - 1 ? `\`${method} ${path}\`` : `\`${method}\``,
    )
    return `| ${methods.join(', ')} | ${all.map(([, name]) => `\`${name}\``).join(', ')} |\n`
  })
  const page = readFileSync(REST_PAGE_FILE, 'utf8')
  return page.replace(/(\| route \| .*\n\|---\|---\|\n)(?:\|.*\n)*/, (_, head) => head + rows.join(''))
}
