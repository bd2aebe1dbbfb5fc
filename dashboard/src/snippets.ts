/** Commands and code to paste, filled in with what is on the screen. */

export interface AdminCall {
  query: string
  variables: Record<string, unknown>
}

export const adminCall = (query: string, variables: Record<string, unknown> = {}): AdminCall => ({
  query,
  variables,
})

/**
 * Stands for a key that is not known here. Each app has a variable of its own, as `npm start` prints it; a key of one
 * app is of no use in another.
 */
export function keyVariable(appId: string): string {
  if (appId === 'default') return 'TOLLGATE_API_KEY'
  const name = appId.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  return `${/^[A-Z]/.test(name) ? name : `APP_${name}`}_TOLLGATE_API_KEY`
}

export function curl({ query, variables }: AdminCall, appId: string, secret?: string): string {
  const key = secret ?? `$${keyVariable(appId)}`
  const parts = [`"query": ${JSON.stringify(query)}`]
  if (Object.keys(variables).length > 0) parts.push(`"variables": ${JSON.stringify(variables)}`)
  const body = `{ ${parts.join(',\n        ')} }`
  return [
    `curl ${location.origin}/graphql \\`,
    // In double quotes the shell expands the variable; a key contains nothing that needs quoting.
    `  -H "Authorization: ${key}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(body)}`,
  ].join('\n')
}

export const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** A program that makes one SDK call, such as `features()`, and prints the result. */
export function sdk(call: string, appId: string, secret?: string): string {
  const apiKey = secret === undefined ? `process.env.${keyVariable(appId)}` : quoted(secret)
  return program("import { Tollgate } from '@tollgate/sdk/node'", `new Tollgate({ apiKey: ${apiKey}`, call)
}

/** The same for a page, with the token of its user. */
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

/** A string literal. */
export const quoted = (text: string) =>
  /[\\'\n\r\u2028\u2029]/.test(text) ? JSON.stringify(text) : `'${text}'`
