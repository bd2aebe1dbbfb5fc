import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { ownTempFolder } from './server/test/harness/temp-folder.ts'
import { LONG, PAGES, SERVICE, UNIT } from './server/test/house/projects.ts'

ownTempFolder()

const CORES = availableParallelism()

/** First of all, so that the end of a run does not wait for one of them alone. */
const LONGEST = [
  'dashboard/test/day',
  'dashboard/test/undoing',
  'dashboard/test/accessibility-elsewhere',
  'server/test/start/start',
  'server/test/http/hostile',
  'server/test/embedded-postgres/owner',
  'server/test/billing/killed',
  'dashboard/test/accessibility',
  'dashboard/test/users',
  'dashboard/test/administration',
  'server/test/bounds/bounds',
  'server/test/audit/audit',
  'server/test/billing/payments',
  'server/test/billing/stripe',
  'server/test/usage/races',
].map((name) => `/${name}.test.ts`)

/** A worker belongs to one project, so each project's files stay together; the last ones are the quickest. */
const PROJECTS = ['long', 'pages', 'service', 'unit']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => projectRank(a) - projectRank(b) || rank(a) - rank(b))
  }
}

const projectRank = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name)

function rank({ moduleId }: TestSpecification): number {
  const index = LONGEST.findIndex((name) => moduleId.endsWith(name))
  return index === -1 ? LONGEST.length : index
}

const HAS_DATABASE = { globalSetup: ['server/test/harness/global-setup.ts'] }

const project = (name: string, files: { include: string[]; exclude: string[] }, needs = {}) => ({
  extends: true as const,
  test: { ...files, name, exclude: [...configDefaults.exclude, ...files.exclude], ...needs },
})

export default defineConfig({
  // graphql comes twice in its package, and Node takes the other one for what is not transformed here.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    projects: [
      // Unit tests do not wait, and each worker loads the modules again, so a third one would not help. Projects in the same
      // group must have the same number of workers.
      project('unit', UNIT, { maxWorkers: Math.max(2, CORES - 1), sequence: { groupOrder: 1 } }),
      project('service', SERVICE, HAS_DATABASE),
      project('pages', { include: PAGES, exclude: [...UNIT.include, ...LONG] }, HAS_DATABASE),
      project('long', { include: LONG, exclude: [] }, HAS_DATABASE),
    ],
    // One module graph for all files of a worker, for loading it takes longer than most files do. So nothing that is
    // imported may run hooks or keep what another file would trip over, and every test puts back what it replaces.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Most of them wait for a server, a browser or a killed process: fewer would leave a small machine idle.
    maxWorkers: Math.max(3, CORES - 1),
    // Bounds for what never comes, not for how long it takes: the machine may be busy with other work.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
