import { fileURLToPath } from 'node:url'
import { mergeConfig, type Plugin } from 'vitest/config'
import type { TestSpecification } from 'vitest/node'
import own from '../vitest.config.ts'
import { copies } from './copies.ts'
import { readSources } from './sources.ts'
import { switched } from './switches.ts'

/** The files come in the order in which they are most likely to notice something. */
class AsGiven {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files
  }
  sort(files: TestSpecification[]): TestSpecification[] {
    return files
  }
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const COPY = /\?copy=\d+$/
const RUN = /\?run=\d+&on=(\d+)&last=(\d+)$/

/**
 * `file.test.ts?run=3&on=7&last=2` runs the tests of a file up to the second with mutant 7 switched on.
 *
 * `file.ts?copy=7` is the file as one mutant has it, and what it imports of ours is of that copy too: for mutants that act
 * when a file is loaded. Nothing on the disk is changed.
 */
function mutants(): Plugin {
  // At once, and not when the first test waits for it: finding all mutants takes seconds.
  const sources = new Map(readSources(ROOT).map((source) => [ROOT + source.path, source]))
  return {
    name: 'mutants',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      if (!importer || !source.startsWith('.') || !(COPY.test(importer) || RUN.test(importer))) return null
      const found = await this.resolve(source, importer.replace(/\?.*$/, ''), { ...options, skipSelf: true })
      const [copy] = COPY.exec(importer) ?? []
      const ours =
        found && !found.external && found.id.startsWith(`${ROOT}server/`) && found.id.endsWith('.ts')
      return copy && ours ? { ...found, id: found.id + copy } : found
    },
    transform(code, id) {
      const [copy] = COPY.exec(id) ?? []
      if (copy) {
        const served = copies().get(copy)
        return served && id.replace(COPY, '') === served.file ? { code: served.text, map: null } : null
      }
      const [query, on, last] = RUN.exec(id) ?? []
      if (query)
        return {
          code: `Object.assign(globalThis.__mutants, { on: ${on}, last: ${last} });${code}`,
          map: null,
        }
      const source = sources.get(id)
      return source ? { code: switched(source.path, source.text, source.mutants).text, map: null } : null
    },
  }
}

export default mergeConfig(own, {
  root: ROOT,
  plugins: [mutants()],
  test: {
    pool: 'threads',
    maxWorkers: 1,
    fileParallelism: false,
    sequence: { sequencer: AsGiven },
    setupFiles: ['mutants/setup.ts'],
    // A mutant that waits for ever is noticed by that, so nothing waits as long as it usually may.
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
