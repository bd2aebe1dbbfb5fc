// Builds every entry twice, as ESM and as CJS, with its types beside it. A package.json in each folder says which of
// the two its files are, to Node and to TypeScript alike.
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const ENTRIES = ['node']
const FORMATS = { esm: 'module', cjs: 'commonjs' }

rmSync(join(ROOT, 'dist'), { recursive: true, force: true })

for (const [format, type] of Object.entries(FORMATS)) {
  const folder = join(ROOT, 'dist', format)
  await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES.map((entry) => `src/${entry}.ts`),
    outdir: folder,
    format,
    bundle: true,
    // Entries that share files keep sharing them: an error of one is an instance of the other's class.
    splitting: format === 'esm',
    target: 'es2022',
    sourcemap: true,
    logLevel: 'warning',
  })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type })}\n`)
}

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
execFileSync(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.build.json')], { stdio: 'inherit' })

// The compiler leaves `.ts` in the imports of declarations, and those files are not in the package.
const types = readdirSync(join(ROOT, 'dist/esm'), { recursive: true }).filter((path) =>
  path.endsWith('.d.ts'),
)
for (const path of types) {
  const file = join(ROOT, 'dist/esm', path)
  const text = readFileSync(file, 'utf8').replace(
    /(from '|import\('|from "|import\(")(\.[^'"]+)\.ts(?=['"])/g,
    '$1$2.js',
  )
  writeFileSync(file, text)
  cpSync(file, join(ROOT, 'dist/cjs', path))
}
