// Builds every entry twice, as ESM and as CJS, with its types beside it. A package.json in each folder says which of
// the two its files are, to Node and to TypeScript alike. With --if-stale, only when a source is newer.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { checkAgainstServer } from './check.mjs'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const DIST = join(ROOT, 'dist')
const ENTRIES = ['node', 'browser', 'react', 'openfeature/server', 'openfeature/web', 'webhooks']

const isWanted = () => !process.argv.includes('--if-stale') || isStale()

if (isWanted()) await buildAll()

async function buildAll() {
  await checkAgainstServer()
  // Elsewhere first: whoever uses what was built before never meets half of it.
  const staged = join(ROOT, `node_modules/.staged-${process.pid}`)
  await buildCode(staged)
  buildTypes(staged)
  // Another build may have been faster, and be in use already.
  if (!isWanted()) return rmSync(staged, { recursive: true })
  const before = `${staged}-before`
  if (existsSync(DIST)) renameSync(DIST, before)
  renameSync(staged, DIST)
  rmSync(before, { recursive: true, force: true })
}

async function buildCode(folder) {
  const [esm, cjs] = [join(folder, 'esm'), join(folder, 'cjs')]
  const common = { absWorkingDir: ROOT, target: 'es2022', sourcemap: true, logLevel: 'warning' }
  // Entries that share files keep sharing them: an error of one is an instance of the other's class.
  await build({
    ...common,
    entryPoints: ENTRIES.map((entry) => `src/${entry}.ts`),
    outbase: 'src',
    outdir: esm,
    format: 'esm',
    bundle: true,
    packages: 'external',
    splitting: true,
  })
  // The same files once more, so that it holds for CJS as well.
  const entryPoints = filesIn(esm, '.js').map((path) => join(esm, path))
  await build({ ...common, entryPoints, outbase: esm, outdir: cjs, format: 'cjs', platform: 'node' })
  for (const [path, type] of [
    [esm, 'module'],
    [cjs, 'commonjs'],
  ])
    writeFileSync(join(path, 'package.json'), `${JSON.stringify({ type, sideEffects: false })}\n`)
}

function buildTypes(folder) {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  const outDir = join(folder, 'esm')
  execFileSync(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', outDir], {
    stdio: 'inherit',
  })
  for (const path of filesIn(outDir, '.d.ts')) {
    const file = join(outDir, path)
    // The compiler leaves `.ts` in the imports of declarations, and those files are not in the package.
    const text = readFileSync(file, 'utf8').replace(
      /(from '|import\('|from "|import\(")(\.[^'"]+)\.ts(?=['"])/g,
      '$1$2.js',
    )
    writeFileSync(file, text)
    cpSync(file, join(folder, 'cjs', path))
  }
}

function isStale() {
  const built = join(DIST, 'cjs/package.json')
  if (!existsSync(built)) return true
  const sources = filesIn(join(ROOT, 'src'), '.ts').map((path) => join(ROOT, 'src', path))
  const newest = [...sources, ...['build.mjs', 'check.mjs', 'package.json'].map((path) => join(ROOT, path))]
  return newest.some((path) => statSync(path).mtimeMs > statSync(built).mtimeMs)
}

function filesIn(folder, ending) {
  mkdirSync(folder, { recursive: true })
  return readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(ending))
}
