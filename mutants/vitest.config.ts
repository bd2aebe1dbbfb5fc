import { fileURLToPath } from 'node:url'
import { mergeConfig, type Plugin } from 'vitest/config'
import type { TestSpecification } from 'vitest/node'
import own from '../vitest.config.ts'
import { served } from './served.ts'

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
const NUMBERED = /\?mutant=(\d+)$/

/**
 * `file.ts?mutant=7` is the file as mutant 7 has it, and what it imports of ours is of mutant 7 too: many copies of the
 * sources live side by side in one process, which takes seconds to start. Nothing on the disk is changed.
 */
const copies: Plugin = {
  name: 'mutants',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    const number = NUMBERED.exec(importer ?? '')?.[0]
    if (!number || !source.startsWith('.')) return null
    const plain = importer?.replace(NUMBERED, '')
    const found = await this.resolve(source, plain, { ...options, skipSelf: true })
    const ours = found && !found.external && found.id.startsWith(`${ROOT}server/`) && found.id.endsWith('.ts')
    return ours ? { ...found, id: found.id + number } : found
  },
  transform(_, id) {
    const mutant = served().get(Number(NUMBERED.exec(id)?.[1]))
    return mutant && id.replace(NUMBERED, '') === mutant.file ? { code: mutant.text, map: null } : null
  },
}

export default mergeConfig(own, {
  root: ROOT,
  plugins: [copies],
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
