// Format, lint, types and the licences of dependencies, side by side. With --printed, the pages' types are already there.
import { run, runTogether } from './ready.mjs'

// The native compiler takes a tenth of the time of the one whose API the tests use.
const tsc = ['node', 'node_modules/typescript-native/bin/tsc', '--noEmit']

if (!process.argv.includes('--printed')) run('npx', ['tsx', 'dashboard/print-types.ts'])
await runTogether([
  ['npx', 'biome', 'check', '--error-on-warnings', '.'],
  [...tsc, '-p', 'tsconfig.json'],
  [...tsc, '-p', 'dashboard'],
  ['node', 'scripts/licences.mjs'],
])
