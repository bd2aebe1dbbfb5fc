/** The lines that a reader can paste into a shell or a program, with what is on the screen in them. */

export interface AdminCall {
  query: string
  variables: Record<string, unknown>
}

export const adminCall = (query: string, variables: Record<string, unknown> = {}): AdminCall => ({
  query,
  variables,
})

/** Stands for the key where it is not known: a shell has it under this name once the first start's line was pasted. */
const KEY = '$TOLLGATE_API_KEY'

export function curl({ query, variables }: AdminCall, key = KEY): string {
  const parts = [`"query": ${JSON.stringify(query)}`]
  if (Object.keys(variables).length > 0) parts.push(`"variables": ${JSON.stringify(variables)}`)
  const body = `{ ${parts.join(',\n        ')} }`
  return [
    `curl ${location.origin}/graphql \\`,
    // In double quotes the shell puts the variable in; a key has nothing in it that they would change.
    `  -H "Authorization: ${key}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(body)}`,
  ].join('\n')
}

export const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** A program that makes one call of the SDK, such as `features()`, and says what came of it. */
export function sdk(call: string, key = 'process.env.TOLLGATE_API_KEY'): string {
  const apiKey = key.startsWith('process') ? key : quoted(key)
  return program("import { Tollgate } from '@tollgate/sdk/node'", `new Tollgate({ apiKey: ${apiKey}`, call)
}

/** The same for a page, with the token of the user who looks at it. */
export const pageSdk = (call: string, token: string): string =>
  program(
    "import { TollgateClient } from '@tollgate/sdk/browser'",
    `new TollgateClient({ token: ${quoted(token)}`,
    call,
  )

const program = (imported: string, made: string, call: string) =>
  [
    imported,
    '',
    `const tollgate = ${made}, baseUrl: ${quoted(location.origin)} })`,
    `const { data, error } = await tollgate.${call}`,
    'console.log(data ?? error)',
  ].join('\n')

/** A text as it stands in a program. */
export const quoted = (text: string) =>
  /[\\'\n\r\u2028\u2029]/.test(text) ? JSON.stringify(text) : `'${text}'`
