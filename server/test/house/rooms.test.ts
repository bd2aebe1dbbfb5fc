import { join, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesIn, ROOT, type SourceFile } from '../harness/source-files.ts'

const SRC = join(ROOT, 'server/src')

const all = filesIn(ROOT)
const source = all.filter(
  ({ path }) => path.startsWith('server/src/') && path.endsWith('.ts') && !path.endsWith('.test.ts'),
)

describe('the rooms', () => {
  /** What a folder of server/src may import besides itself; `.` are the files at the top. */
  const MAY_IMPORT: Record<string, string[]> = {
    domain: [],
    telemetry: ['domain'],
    store: ['domain'],
    'embedded-postgres': ['domain'],
    billing: ['store', 'telemetry', 'domain'],
    webhooks: ['domain'],
    operations: ['store', 'billing', 'webhooks', 'telemetry', 'domain'],
    graphql: ['operations', 'store', 'telemetry', 'domain'],
    rest: ['graphql', 'operations', 'domain'],
    http: ['rest', 'graphql', 'operations', 'store', 'telemetry', 'domain'],
    settings: ['http', 'operations', 'store', 'telemetry', 'domain'],
    terminal: [],
    // Other programs are started by their file name, not imported.
    cli: ['doctor', 'terminal', 'domain'],
    doctor: ['start', 'settings', 'embedded-postgres', 'store', 'domain'],
    tools: ['terminal', 'start', 'settings', 'operations', 'embedded-postgres', 'store', 'domain'],
    start: ['settings', 'operations', 'embedded-postgres', 'store', 'billing', 'telemetry', 'domain'],
    '.': [
      'start',
      'settings',
      'http',
      'graphql',
      'operations',
      'embedded-postgres',
      'store',
      'billing',
      'telemetry',
      'domain',
    ],
  }

  it('imports nothing upwards', () => {
    const upwards = source.flatMap((file) =>
      file.imports.flatMap(({ path }) => {
        if (!path?.startsWith('server/src/')) return []
        const [from, to] = [folderOf(file.path), folderOf(path)]
        return from === to || MAY_IMPORT[from]?.includes(to) ? [] : [`${file.path} imports ${path}`]
      }),
    )
    expect(upwards).toEqual([])
  })

  /** The rooms of the store, each of which imports only from those before it. */
  const STORE = [
    ...[
      'connection',
      'schema',
      'secrets',
      'catalogue',
      'apps',
      'ledger',
      'usage',
      'credits',
      'jobs',
      'events',
      'webhooks',
      'members',
      'users',
    ],
    ...['billing', 'subscriptions', 'imports', 'bulk', 'audit', 'privacy', 'sample', 'cells'],
  ]

  it('has rooms in the store that import in one direction', () => {
    const inStore = source.filter(({ path }) => path.startsWith('server/src/store/'))
    expect([...new Set(inStore.map(({ path }) => roomOf(path)))].sort()).toEqual(STORE.toSorted())
    const backwards = inStore.flatMap((file) =>
      file.imports
        .filter(({ path }) => path?.startsWith('server/src/store/'))
        .filter(({ path }) => STORE.indexOf(roomOf(path ?? '')) > STORE.indexOf(roomOf(file.path)))
        .map(({ path }) => `${file.path} imports ${path}`),
    )
    expect(backwards).toEqual([])
  })

  it('keeps cells behind one seam', () => {
    const CELLS = 'server/src/store/cells/'
    const knowing = source.filter(
      ({ path, imports }) => !path.startsWith(CELLS) && imports.some((one) => one.path?.startsWith(CELLS)),
    )
    expect(knowing.map(({ path }) => path).sort()).toEqual([
      'server/src/operations/upkeep/cells.ts',
      'server/src/operations/upkeep/remote-cells.ts',
      'server/src/start/service-database.ts',
      'server/src/tools/cell-tools.ts',
      'server/src/tools/ledger-tools.ts',
    ])
  })

  it('has no circle of imports, types included', () => {
    const modules = all.filter(({ path }) => /\.(ts|tsx|mjs)$/.test(path))
    expect(modules.filter(({ imports }) => imports.length > 0).length).toBeGreaterThan(300)
    expect(circlesIn(modules)).toEqual([])
  })
})

const roomOf = (path: string): string => path.split('/')[3] ?? ''

/** The folder of server/src that a file belongs to. */
function folderOf(path: string): string {
  const [folder, file] = relative(SRC, join(ROOT, path)).split(sep)
  return file === undefined ? '.' : (folder ?? '.')
}

/** For each file from which imports lead back to itself, the shortest way round. */
function circlesIn(files: readonly SourceFile[]): string[] {
  const importsBy = new Map(files.map(({ path, imports }) => [path, imports]))
  return files.flatMap(({ path: start }) => {
    const cameFrom = new Map<string, string>()
    const queue = [start]
    for (const path of queue) {
      for (const { path: next } of importsBy.get(path) ?? []) {
        if (next === null || cameFrom.has(next)) continue
        cameFrom.set(next, path)
        queue.push(next)
      }
    }
    if (!cameFrom.has(start)) return []
    const way = [start]
    do way.unshift(cameFrom.get(way[0] ?? '') ?? '')
    while (way[0] !== start)
    return [way.join(' → ')]
  })
}
