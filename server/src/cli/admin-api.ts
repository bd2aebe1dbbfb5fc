import { StartError } from '../domain/errors.ts'
import type { Context } from './context.ts'
import { askGraphql, serviceUrl } from './service-request.ts'

/** Executes a document of the Admin API with TOLLGATE_API_KEY. */
export async function askAdmin<T>(
  context: Context,
  options: { url?: string | undefined },
  document: string,
  variables: Record<string, unknown>,
): Promise<T> {
  const url = serviceUrl(context, options.url)
  const key = context.env.TOLLGATE_API_KEY?.trim()
  if (!key)
    throw new StartError(
      'TOLLGATE_API_KEY is not set. Set it to an API key of the app; the first start printed one, and tollgate keys create makes another.',
    )
  // Otherwise `fetch` would reject the header with a message that contains the key.
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new StartError('TOLLGATE_API_KEY must consist of ASCII characters without whitespace.')
  const { data } = await askGraphql<T>(
    context,
    { url, path: '/graphql', headers: { Authorization: key } },
    document,
    variables,
  )
  return data
}
