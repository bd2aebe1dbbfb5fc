import { dirname } from 'node:path/posix'

/**
 * The paths of the lockfile's packages that ship: production dependencies, those that the server's bundle contains, with
 * theirs, and those that the builds of the dashboard and of the documentation make part of their pages. The last two are installed for development only.
 */
export function shippedIn(packages) {
  const shipped = new Set()
  for (const [path, { dev, link }] of Object.entries(packages))
    if (path.includes('node_modules/') && !dev && !link) shipped.add(path)
  for (const pages of ['dashboard', 'site'])
    for (const name of Object.keys(packages[pages]?.devDependencies ?? {})) {
      const path = found(packages, name, pages)
      if (path !== undefined) shipped.add(path)
    }
  const add = (names, from) => {
    for (const name of Object.keys(names ?? {})) {
      const path = found(packages, name, from)
      if (path === undefined || shipped.has(path)) continue
      shipped.add(path)
      add(packages[path].dependencies, path)
    }
  }
  add(packages.server?.devDependencies, 'server')
  return shipped
}

/** Where Node finds a package from a folder: in its own node_modules, or in those of a folder above. */
function found(packages, name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = folder === '.' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (path in packages) return path
    if (folder === '.') return undefined
  }
}
