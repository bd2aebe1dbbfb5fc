// Prepares `npm pack --workspace server`: builds the server, and puts the dashboard's pages, the documentation and the
// licences of everything that was built in beside it.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, install, root } from './ready.mjs'
import { shippedIn } from './shipped.mjs'

install()
build()
for (const [built, name] of [
  ['dashboard/dist', 'dashboard'],
  ['site/dist/html', 'docs'],
]) {
  const copy = join(root, 'server/dist', name)
  rmSync(copy, { recursive: true, force: true })
  cpSync(join(root, built), copy, { recursive: true })
}
writeFileSync(join(root, 'server/dist/third-party-licences.txt'), builtIn().map(licenceOf).join('\n'))

/** Packages that npm does not install with ours, because the built files contain them. */
function builtIn() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return [...shippedIn(packages)].filter((path) => packages[path].dev && !path.includes('@types/')).sort()
}

function licenceOf(path) {
  const folder = join(root, path)
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : 'The package has no licence file.'
  return `${name} ${version} (${license})\n\n${text}\n\n${'-'.repeat(80)}\n`
}
