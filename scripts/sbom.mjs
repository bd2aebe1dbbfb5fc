// Prints what a production install contains, as CycloneDX, from the lockfile alone. `npm sbom --omit dev` would leave out
// whatever development also needs, such as graphql: so the whole list is requested, and filtered here.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './ready.mjs'
import { shippedIn } from './shipped.mjs'

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const options = ['--package-lock-only', '--offline', '--sbom-format', 'cyclonedx']
const printed = execFileSync('npm', ['sbom', ...options], { cwd: root, maxBuffer: 2 ** 26, encoding: 'utf8' })
const bom = JSON.parse(printed)

const shipped = new Set()
for (const path of shippedIn(packages))
  shipped.add(`${path.replace(/^.*node_modules\//, '')}@${packages[path].version}`)

const own = bom.metadata.component
own.name = packages[''].name
const isIn = (ref) => shipped.has(ref) || ref === own['bom-ref']
bom.components = bom.components.filter((component) => isIn(component['bom-ref']))
bom.dependencies = bom.dependencies
  .filter(({ ref }) => isIn(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isIn) }))
console.log(JSON.stringify(bom, null, 2))
