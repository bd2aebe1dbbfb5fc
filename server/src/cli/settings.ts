import type { Command } from 'commander'

/** The settings that commands read, with their help texts. `tollgate start --help` lists the settings of the service. */
const SETTINGS = {
  TOLLGATE_URL: 'URL of the service (default: http://127.0.0.1:4000)',
  TOLLGATE_API_KEY: 'API key of the app',
  TOLLGATE_EMAIL: 'email address of a dashboard member',
  TOLLGATE_PASSWORD: "the member's password; asked for in a terminal if not set",
  NO_COLOR: 'if set, output has no colours',
} as const

type Setting = keyof typeof SETTINGS

export const ADMIN_SETTINGS: Setting[] = ['TOLLGATE_URL', 'TOLLGATE_API_KEY', 'NO_COLOR']
export const MEMBER_SETTINGS: Setting[] = ['TOLLGATE_URL', 'TOLLGATE_EMAIL', 'TOLLGATE_PASSWORD', 'NO_COLOR']
export const ALL_SETTINGS = Object.keys(SETTINGS) as Setting[]

/** Options of every command that talks to a service. */
export interface CommonOptions {
  url?: string
  json?: boolean
}

/** Adds `--url`, `--json`, and the list of settings to a command's help. */
export function withSettings(command: Command, names: readonly Setting[]): Command {
  return command
    .option('--url <url>', 'URL of the service, instead of TOLLGATE_URL')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', `\n${settingsText(names)}`)
}

export function settingsText(names: readonly Setting[]): string {
  const width = Math.max(...names.map((name) => name.length))
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${SETTINGS[name]}`)
  return ['Settings (environment variables):', ...lines].join('\n')
}
