import { LONG, PAGES } from '../server/test/house/projects.ts'
import { filesIn } from './sources.ts'

/** They load everything and say nothing about what it does. */
const ABOUT_NOTHING = [
  'server/test/graphql/schema.test.ts',
  'server/test/house/rooms.test.ts',
  'server/test/house/tidy.test.ts',
  'server/test/house/docs.test.ts',
  'server/test/graphql/document-cost.test.ts',
  'server/test/house/licences.test.ts',
  'server/src/graphql/engine/compilable.test.ts',
]

/** The test files that may notice a mutant: those that run the service, or a piece of it, in their own process. */
export function testFiles(root: string): string[] {
  const left = [...LONG, ...PAGES, ...ABOUT_NOTHING]
  return ['server/src', 'server/test', 'sdk/test']
    .flatMap((folder) => filesIn(root, folder))
    .filter((path) => path.endsWith('.test.ts') && !left.includes(path))
}
