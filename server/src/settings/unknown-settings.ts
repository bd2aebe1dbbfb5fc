import { readConfig } from './config.ts'

type Env = Record<string, string | undefined>

/** Read by other commands and programs of this repository, or printed by the first start to be pasted into a shell. */
const NOT_OURS =
  /^TOLLGATE_(URL|EMAIL|PASSWORD|OWNER_TOKEN|PICTURES|HISTORIES|CHANGES|CHROMIUM|PID|STRIPE_TEST_KEY|TEST_\w+)$/
/** Kubernetes and Docker set these for a service called tollgate. */
const LINKED = /^TOLLGATE_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_\w+)$/

/** Warnings about variables that look like misspelt settings, each with the most similar setting. */
export function misspelt(env: Env): string[] {
  const known = settingNames()
  return Object.keys(env).flatMap((name) => {
    const value = env[name] ?? ''
    if (known.includes(name) || value === '') return []
    const upper = name.toUpperCase()
    const nearest = nearestTo(upper, known)
    const meant = `did you mean ${nearest.setting}?`
    if (/^TOLLGATE_/i.test(name)) {
      if (NOT_OURS.test(name) || LINKED.test(name) || /^tcp:/.test(value)) return []
      const near = nearest.steps <= Math.max(TYPOS, upper.length / 3)
      return `${name} is not a Tollgate setting and has no effect${near ? `: ${meant}` : '; see docs/operations.md for all settings.'}`
    }
    // Variables of other programs are ignored, unless one is almost certainly a typo.
    const slip =
      nearest.setting.length > SHORT ? nearest.steps <= TYPOS : isTransposed(upper, nearest.setting)
    return slip && !env[nearest.setting] ? `${name} is not a Tollgate setting: ${meant}` : []
  })
}

const TYPOS = 2
/** `HOSTS` and `PORTS` belong to other programs. */
const SHORT = 5

function nearestTo(name: string, known: readonly string[]): { setting: string; steps: number } {
  const bare = known.find((setting) => name === `TOLLGATE_${setting}`)
  if (bare !== undefined) return { setting: bare, steps: 0 }
  return known
    .map((setting) => ({ setting, steps: distance(name, setting) }))
    .reduce((best, next) => (next.steps < best.steps ? next : best))
}

/** The names that `readConfig` reads. */
export function settingNames(): string[] {
  const names = new Set<string>()
  readConfig(
    new Proxy<Env>(
      {},
      {
        get(_, name) {
          names.add(String(name))
          return undefined
        },
      },
    ),
  )
  return [...names]
}

/** Number of letters to add, remove, replace or swap with the next. */
function distance(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      const steps = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same]
      if (isSwap(a, b, i, j)) steps.push((before[j - 2] ?? 0) + 1)
      row.push(Math.min(...steps))
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

const isSwap = (a: string, b: string, i: number, j: number): boolean =>
  i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]

const isTransposed = (a: string, b: string): boolean =>
  a.length === b.length && [...a].sort().join('') === [...b].sort().join('') && distance(a, b) === 1
