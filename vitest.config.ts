import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** First of all, so that the end of a run does not wait for one of them alone. */
const LONGEST = [
  'server/test/races',
  'dashboard/test/accessibility',
  'dashboard/test/large-import',
  'server/test/audit',
  'server/test/crash',
  'server/test/embedded-postgres-owner',
  'server/test/billing/stripe',
  'server/test/billing/histories',
  'server/test/start',
  'server/test/bounds',
  'server/test/workers',
  'server/test/embedded-postgres',
  'sdk/test/cut-replies',
].map((name) => `/${name}.test.ts`)

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = (await super.sort(files)).filter((file) => rank(file) === -1)
    const longest = files.filter((file) => rank(file) !== -1).toSorted((a, b) => rank(a) - rank(b))
    return [...longest, ...others]
  }
}

const rank = ({ moduleId }: TestSpecification): number => LONGEST.findIndex((name) => moduleId.endsWith(name))

export default defineConfig({
  // graphql comes twice in its package, and Node takes the other one for what is not transformed here.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['server/**/*.test.ts', 'sdk/**/*.test.ts', 'dashboard/**/*.test.ts'],
    globalSetup: ['server/test/harness/global-setup.ts'],
    // One module graph for all files of a worker, for loading it takes longer than most files do. So nothing that is
    // imported may run hooks or keep what another file would trip over, and every test puts back what it replaces.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Most of them wait for a server or a browser: one at a time would leave a small machine idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
