// Prints what a production install holds, as CycloneDX, from the lockfile alone. `npm sbom --omit dev` would leave out
// whatever something in development needs as well, graphql among them: so the whole list is asked for, and cut here.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './ready.mjs'

const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const options = ['--package-lock-only', '--offline', '--sbom-format', 'cyclonedx']
const printed = execFileSync('npm', ['sbom', ...options], { cwd: root, maxBuffer: 2 ** 26, encoding: 'utf8' })
const bom = JSON.parse(printed)

const shipped = new Set()
for (const [path, { version, dev, link }] of Object.entries(packages))
  if (path.includes('node_modules/') && !dev && !link)
    shipped.add(`${path.replace(/^.*node_modules\//, '')}@${version}`)

const own = bom.metadata.component
own.name = packages[''].name
const isIn = (ref) => shipped.has(ref) || ref === own['bom-ref']
bom.components = bom.components.filter((component) => isIn(component['bom-ref']))
bom.dependencies = bom.dependencies
  .filter(({ ref }) => isIn(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isIn) }))
console.log(JSON.stringify(bom, null, 2))
