import { ApiError } from './api-error.ts'

/** Columns by their names in the file; null: not to be read. */
export interface Columns {
  id: string
  email: string | null
  billingId: string | null
  name: string | null
  plan: string | null
  metadata: string | null
}

interface Upload {
  appId: string
  importId: string
  file: File
  columns: Columns
  /** whether unknown ids are new users */
  create: boolean
  empty: 'keep' | 'clear'
  delimiter: string
}

/** Uploads a CSV file for a dry run. Its rows are requested afterwards. */
export async function uploadUsers({
  appId,
  importId,
  file,
  columns,
  create,
  empty,
  delimiter,
}: Upload): Promise<void> {
  const query = new URLSearchParams({
    app: appId,
    import: importId,
    dryRun: '1',
    create: create ? 'true' : 'no',
    empty,
    delimiter,
  })
  for (const [name, column] of Object.entries(columns)) query.set(name, column ?? '')
  let response: Response
  try {
    response = await fetch(`/dashboard/import/users?${query}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/csv' },
      body: file,
    })
  } catch {
    throw new ApiError('UNREACHABLE', 'The upload failed. Check your connection and try again.')
  }
  const answer = (await response.json().catch(() => null)) as Refusal | null
  const [error] = answer?.errors ?? []
  if (error) throw new ApiError(error.extensions?.code ?? 'UNKNOWN', error.message)
  if (!response.ok) throw new ApiError('UNKNOWN', `The file was rejected (HTTP ${response.status}).`)
}

interface Refusal {
  errors?: { message: string; extensions?: { code?: string } }[]
}

export const reportUrl = (appId: string, importId: string): string =>
  `/dashboard/import/report?${new URLSearchParams({ app: appId, import: importId })}`
