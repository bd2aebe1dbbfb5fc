import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { BUNDLE } from '../../bundle.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const BUILT = join(ROOT, 'server/dist/test')

const SCRIPTS = [
  'server/test/audit/cli.ts',
  'server/test/fixtures/hold-postgres.ts',
  'sdk/test/fixtures/queue-process.ts',
]

/** Makes what tests start as processes of their own ready to run: through tsx, each start takes four times as long. */
export async function buildScripts(): Promise<void> {
  await build({
    ...BUNDLE,
    absWorkingDir: ROOT,
    entryPoints: SCRIPTS,
    entryNames: '[name]',
    outdir: BUILT,
    sourcemap: true,
  })
}

/** Where the script of this name is once it is built. */
export const builtScript = (name: string): string => join(BUILT, `${name}.js`)
