import { DEFAULT_APP } from '../operations/apps/first-start.ts'
import type { Secrets } from '../operations/apps/recovery.ts'

/** The output of a start: addresses, and secrets that are shown only now. */
export function welcome(url: string, secrets: Secrets): string {
  const lines = ['', 'Tollgate is ready.', '', `  Admin API    ${url}/graphql`, `  Dashboard    ${url}/`]
  return `${lines.join('\n')}\n${shownOnce(url, secrets)}\n`
}

export function shownOnce(url: string, { apiKey, ownerToken, newKey, reset }: Secrets): string {
  const lines: string[] = []
  if (ownerToken !== null) lines.push(`  Owner        ${url}/setup#token=${ownerToken}   (single use)`)
  if (reset)
    lines.push(
      '',
      `  Password reset link for ${reset.email} (single use, expires at ${new Date(reset.expiresAt).toISOString()}):`,
      '',
      `  ${url}/reset#token=${reset.token}`,
    )
  if (newKey)
    lines.push(
      '',
      `  New API key of the app "${newKey.appId}", shown only once. Earlier keys remain valid; revoke lost ones in the dashboard.`,
      '',
      `export ${keyVariable(newKey.appId)}=${newKey.secret}`,
    )
  if (apiKey !== null) {
    lines.push(
      '',
      `  API key of the app "${DEFAULT_APP}", shown only once. To use it in another terminal:`,
      '',
    )
    lines.push(`export TOLLGATE_URL=${url}`, `export ${keyVariable(DEFAULT_APP)}=${apiKey}`)
    if (ownerToken !== null) lines.push(`export TOLLGATE_OWNER_TOKEN=${ownerToken}`)
  }
  return lines.map((line) => `${line}\n`).join('')
}

/** As in the commands that the dashboard shows. */
function keyVariable(appId: string): string {
  if (appId === DEFAULT_APP) return 'TOLLGATE_API_KEY'
  const name = appId.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  return `${/^[A-Z]/.test(name) ? name : `APP_${name}`}_TOLLGATE_API_KEY`
}
