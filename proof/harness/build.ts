import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { BUNDLE } from '../../server/bundle.ts'
import type { SourceChange } from '../breakage.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The service, or its tools, as one file, built from the sources in `root`, with what a breakage changes in them. */
export async function buildService(
  name: string,
  changes: readonly SourceChange[] = [],
  root = ROOT,
  entry: 'main' | 'tools/data-tools' = 'main',
): Promise<string> {
  // Beside the usual build: from there it finds the pages of the dashboard.
  const outfile = join(root, 'server/dist', `proof-${name}.js`)
  await build({
    ...BUNDLE,
    absWorkingDir: root,
    entryPoints: [`server/src/${entry}.ts`],
    outfile,
    logLevel: 'silent',
    plugins: [
      ...BUNDLE.plugins,
      ...(changes.length > 0 ? [breaking(changes, join(root, 'server/src'))] : []),
    ],
  })
  return outfile
}

/** Fails where a snippet is not found: a breakage that changes nothing would prove nothing. */
function breaking(changes: readonly SourceChange[], src: string): Plugin {
  return {
    name: 'breaking',
    setup(under) {
      const pending = new Set(changes)
      under.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const own = changes.filter(({ file }) => join(src, file) === path)
        if (own.length === 0) return null
        let contents = await readFile(path, 'utf8')
        for (const change of own) {
          if (!contents.includes(change.find)) continue
          contents = contents.replace(change.find, () => change.replace)
          pending.delete(change)
        }
        return { contents, loader: 'ts' }
      })
      under.onEnd(() => ({
        errors: [...pending].map(({ file, find }) => ({
          text: `the snippet to break is not in ${file}: ${find}`,
        })),
      }))
    },
  }
}
