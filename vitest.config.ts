import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['server/**/*.test.ts'],
    globalSetup: ['server/test/harness/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
