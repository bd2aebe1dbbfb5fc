import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, read } from '../pages.ts'
import { errorsPage } from './errors-page.ts'
import { graphqlPage } from './graphql-page.ts'
import { limitsPage } from './limits-page.ts'
import { openapiPage } from './openapi-page.ts'

const OPENAPI = 'server/schema/openapi.json'

/** The pages of the reference, made from the schemas and tables that the service itself uses. */
export function generatedPages(): { page: string; text: string }[] {
  const pages = [
    { page: 'reference/admin-api.md', text: graphqlPage('admin', read('server/schema/admin.graphql')) },
    { page: 'reference/client-api.md', text: graphqlPage('client', read('server/schema/client.graphql')) },
    {
      page: 'reference/dashboard-api.md',
      text: graphqlPage('dashboard', read('server/schema/dashboard.graphql')),
    },
    { page: 'reference/errors.md', text: errorsPage() },
    { page: 'reference/limits.md', text: limitsPage() },
  ]
  if (existsSync(join(ROOT, OPENAPI)))
    pages.push({ page: 'reference/rest-api.md', text: openapiPage(JSON.parse(read(OPENAPI))) })
  return pages
}
