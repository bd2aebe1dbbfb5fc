// Format, lint, types and the licences of dependencies, side by side.
import { run, runTogether } from './ready.mjs'

run('npx', ['tsx', 'dashboard/print-types.ts'])
await runTogether([
  ['npx', 'biome', 'check', '--error-on-warnings', '.'],
  ['npx', 'tsc', '--noEmit', '-p', 'tsconfig.json'],
  ['npx', 'tsc', '--noEmit', '-p', 'dashboard'],
  ['node', 'scripts/licences.mjs'],
])
