// Fails if anything that ships depends on a package whose licence is not on the list.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { shippedIn } from './shipped.mjs'

const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'PostgreSQL',
  'Python-2.0',
  'Unlicense',
])

/** Every package that ships whose licence is not allowed, with its licence. */
export function refusedIn(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const shipped = shippedIn(packages)
  return Object.entries(packages).flatMap(([path, entry]) => {
    if (!shipped.has(path)) return []
    const licence = entry.license ?? licenceIn(join(root, path))
    return isAllowed(licence) ? [] : [`${path.replace(/^.*node_modules\//, '')}@${entry.version}: ${licence}`]
  })
}

/** An SPDX expression: one of several by OR, all of several by AND. */
function isAllowed(expression) {
  if (typeof expression !== 'string') return false
  const bare = expression.replace(/^\((.*)\)$/, '$1')
  if (bare.includes('(')) return false
  return bare
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => ALLOWED.has(licence.trim())))
}

/** If the lockfile does not say, the package itself may. */
function licenceIn(folder) {
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) return 'unknown'
  return JSON.parse(readFileSync(manifest, 'utf8')).license ?? 'none'
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const refused = refusedIn(fileURLToPath(new URL('..', import.meta.url)))
  for (const line of refused) console.error(`Licence not allowed: ${line}`)
  if (refused.length > 0) process.exitCode = 1
}
