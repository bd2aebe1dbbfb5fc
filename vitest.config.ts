import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // graphql comes twice in its package, and Node takes the other one for what is not transformed here.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['server/**/*.test.ts', 'sdk/**/*.test.ts', 'dashboard/**/*.test.ts'],
    globalSetup: ['server/test/harness/global-setup.ts'],
    // Most of them wait for a server or a browser: one at a time would leave a small machine idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
