/** Besides the tests that sit next to their source, those that need neither a database nor a server nor a browser. */
const UNIT_FILES = [
  'dashboard/test/amount.test.ts',
  'dashboard/test/csv-header.test.ts',
  'dashboard/test/differences.test.ts',
  'sdk/test/answers.test.ts',
  'sdk/test/arguments.test.ts',
  'sdk/test/documents.test.ts',
  'sdk/test/pulse.test.ts',
  'server/test/docs.test.ts',
  'server/test/document-cost.test.ts',
  'server/test/licences.test.ts',
  'server/test/schema.test.ts',
  'server/test/tidy.test.ts',
]

export const isUnit = (path: string): boolean =>
  UNIT_FILES.includes(path) || (path.startsWith('server/src/') && path.endsWith('.test.ts'))

export const ALL = ['server/**/*.test.ts', 'sdk/**/*.test.ts', 'dashboard/**/*.test.ts']

export const UNIT = ['server/src/**/*.test.ts', ...UNIT_FILES]

/** Tests that open pages in a browser. */
export const PAGES = [
  'dashboard/test/**/*.test.ts',
  'sdk/test/examples.test.ts',
  'sdk/test/page.test.ts',
  'sdk/test/react.test.ts',
  'server/test/billing/checkout-page.test.ts',
]
