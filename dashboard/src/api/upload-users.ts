import { ApiError } from './api-error.ts'

export interface Columns {
  id: string
  email: string | null
  billingId: string | null
}

interface Upload {
  appId: string
  importId: string
  file: File
  columns: Columns
  empty: 'keep' | 'clear'
  delimiter: string
}

/** Uploads a CSV file for a dry run. Its rows are requested afterwards. */
export async function uploadUsers({
  appId,
  importId,
  file,
  columns,
  empty,
  delimiter,
}: Upload): Promise<void> {
  const query = new URLSearchParams({
    app: appId,
    import: importId,
    dryRun: '1',
    id: columns.id,
    empty,
    delimiter,
  })
  if (columns.email !== null) query.set('email', columns.email)
  if (columns.billingId !== null) query.set('billingId', columns.billingId)
  let response: Response
  try {
    response = await fetch(`/dashboard/import/users?${query}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/csv' },
      body: file,
    })
  } catch {
    throw new ApiError('UNREACHABLE', 'The file did not arrive. Check the connection, and try again.')
  }
  const answer = (await response.json().catch(() => null)) as Refusal | null
  const [error] = answer?.errors ?? []
  if (error) throw new ApiError(error.extensions?.code ?? 'UNKNOWN', error.message)
  if (!response.ok) throw new ApiError('UNKNOWN', `The file was refused (HTTP ${response.status}).`)
}

interface Refusal {
  errors?: { message: string; extensions?: { code?: string } }[]
}

export const reportUrl = (appId: string, importId: string): string =>
  `/dashboard/import/report?${new URLSearchParams({ app: appId, import: importId })}`
