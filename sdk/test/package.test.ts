import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../server/test/harness/server.ts'
import { type SdkApp, sdkApp } from './support/app.ts'

const run = promisify(execFile)
const SDK = fileURLToPath(new URL('..', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let server: TestServer
let app: SdkApp
/** a project that has the packed package installed, and nothing else */
let project: string
beforeAll(async () => {
  server = await startTestServer()
  app = await sdkApp(server)
  project = await mkdtemp(join(tmpdir(), 'tollgate-project-'))
  await run(process.execPath, ['build.mjs'], { cwd: SDK })
  await run('npm', ['pack', '--silent', '--pack-destination', project], { cwd: SDK })
  const installed = join(project, 'node_modules/@tollgate/sdk')
  await mkdir(installed, { recursive: true })
  await run('tar', ['-xzf', join(project, 'tollgate-sdk-0.1.0.tgz'), '-C', installed, '--strip-components=1'])
})
afterAll(async () => {
  await rm(project, { recursive: true, force: true })
  await server.stop()
})

const USE = `
const tollgate = new Tollgate()
async function main() {
  const { data } = await tollgate.canUseFeature({ userId: 'ann', featureId: 'calls' })
  const { error } = await tollgate.user({ id: 'nobody' })
  console.log(data.access, error instanceof UserNotFoundError, error.response.status)
}
main()
`
const ESM = `import { Tollgate, UserNotFoundError } from '@tollgate/sdk/node'\n${USE}`
const CJS = `const { Tollgate, UserNotFoundError } = require('@tollgate/sdk/node')\n${USE}`

async function printedBy(file: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', TOLLGATE_API_KEY: app.apiKey, TOLLGATE_URL: server.url }
  return (await run(process.execPath, [file], { cwd: project, env })).stdout.trim()
}

describe('the packed package', () => {
  it.each([
    ['ESM', 'main.mjs', ESM],
    ['CJS', 'main.cjs', CJS],
  ])('runs as %s', async (_, file, text) => {
    await writeFile(join(project, file), text)
    expect(await printedBy(file)).toBe('true true 404')
  })

  it('runs from a bundle', async () => {
    await writeFile(join(project, 'entry.mjs'), ESM)
    const outfile = join(project, 'bundle.mjs')
    await build({ entryPoints: [join(project, 'entry.mjs')], bundle: true, format: 'esm', outfile })
    expect(await printedBy('bundle.mjs')).toBe('true true 404')
  })

  const TYPED = `
    export async function main(tollgate: Tollgate): Promise<string> {
      const check: Result<Check> = await tollgate.canUseFeature({ userId: 'ann', featureId: 'calls' })
      if (check.error) return check.error.name
      const { data } = await tollgate.package({ id: 'plan', includeFeatures: true })
      const bare = await tollgate.package({ id: 'plan' })
      // @ts-expect-error features come only when they are asked for
      bare.data?.features
      // @ts-expect-error a delta is a number
      await tollgate.recordUsage({ userId: 'ann', featureId: 'calls', delta: '1' })
      return check.data.reason + (data?.features[0]?.limit ?? '')
    }`
  it('its types hold, imported and required', async () => {
    const named = "import { type Check, type Result, Tollgate } from '@tollgate/sdk/node'"
    const files = ['types.mts', 'types.cts']
    for (const file of files) await writeFile(join(project, file), `${named}\n${TYPED}\n`)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--module', 'nodenext']
    const { stdout } = await run(process.execPath, [tsc, '--noEmit', ...strict, ...types, ...files], {
      cwd: project,
    }).catch((failed) => failed)
    expect(stdout).toBe('')
  })

  it('has no dependencies, and imports none', async () => {
    const installed = join(project, 'node_modules/@tollgate/sdk')
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    expect(manifest.dependencies).toBeUndefined()
    const code = await readFile(join(installed, 'dist/esm/node.js'), 'utf8')
    expect(code.match(/^import .*$/gm)).toBeNull()
    expect(await readFile(join(installed, 'dist/cjs/node.js'), 'utf8')).not.toMatch(/\brequire\(/)
  })
})
