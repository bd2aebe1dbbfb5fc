import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../server/test/harness/server.ts'
import { type SdkApp, sdkApp } from './support/app.ts'
import { type Project, projectWithPackage, ROOT, run } from './support/packed.ts'

let server: TestServer
let app: SdkApp
let project: Project
beforeAll(async () => {
  server = await startTestServer()
  app = await sdkApp(server)
  project = await projectWithPackage()
}, 180_000)
afterAll(async () => {
  await project?.remove()
  await server.stop()
})

const ENTRIES: Record<string, string[]> = {
  node: ['Tollgate', 'UserNotFoundError', 'NetworkError as NodeNetworkError'],
  browser: ['TollgateClient', 'NetworkError'],
  react: ['Gate', 'TollgateProvider'],
  'openfeature/server': ['TollgateServerProvider'],
  'openfeature/web': ['TollgateWebProvider'],
  webhooks: ['verifyWebhook'],
}
const imports = (as: 'ESM' | 'CJS'): string =>
  Object.entries(ENTRIES)
    .map(([entry, names]) =>
      as === 'ESM'
        ? `import { ${names.join(', ')} } from '@tollgate/sdk/${entry}'`
        : `const { ${names.join(', ').replaceAll(' as ', ': ')} } = require('@tollgate/sdk/${entry}')`,
    )
    .join('\n')

/** Uses every entry, and prints what came of it. */
const USE = `
async function main() {
  const tollgate = new Tollgate()
  const { data } = await tollgate.canUseFeature({ userId: 'ann', featureId: 'calls' })
  const { error } = await tollgate.user({ id: 'nobody' })
  console.log(data.access, error instanceof UserNotFoundError, error.response.status)

  const { data: { token } } = await tollgate.generateUserToken({ userId: 'ann' })
  const client = new TollgateClient({ baseUrl: process.env.TOLLGATE_URL, token, initial: { features: [data] } })
  console.log((await client.canUse('calls')).data.access)
  const unreachable = new TollgateClient({ baseUrl: 'http://127.0.0.1:1', token })
  const failed = await unreachable.canUse('calls')
  console.log(failed.error instanceof NetworkError, failed.error instanceof NodeNetworkError)

  const gate = createElement(Gate, { feature: 'calls', fallback: 'closed' }, 'open')
  console.log(renderToString(createElement(TollgateProvider, { client }, gate)))
  const flag = await new TollgateServerProvider(tollgate).resolveBooleanEvaluation('calls', false, { targetingKey: 'ann' })
  console.log(flag.variant, new TollgateWebProvider(client).metadata.name)
}
main()
`
const ESM = `${imports('ESM')}
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
${USE}`
const CJS = `${imports('CJS')}
const { createElement } = require('react')
const { renderToString } = require('react-dom/server')
${USE}`
const PRINTED = ['true true 404', 'true', 'true true', 'open', 'WITHIN_BUDGET tollgate']

async function printedBy(file: string): Promise<string[]> {
  const env = { PATH: process.env.PATH ?? '', TOLLGATE_API_KEY: app.apiKey, TOLLGATE_URL: server.url }
  const { stdout } = await run(process.execPath, [file], { cwd: project.folder, env })
  return stdout.trim().split('\n')
}

const written = async (file: string, text: string): Promise<string> => {
  await writeFile(join(project.folder, file), text)
  return join(project.folder, file)
}

describe('the packed package', () => {
  it.each([
    ['ESM', 'main.mjs', ESM],
    ['CJS', 'main.cjs', CJS],
  ])('runs as %s, and its entries share their error classes', async (_, file, text) => {
    await written(file, text)
    expect(await printedBy(file)).toEqual(PRINTED)
  })

  it('runs from a bundle', async () => {
    const entry = await written('entry.mjs', ESM)
    const outfile = join(project.folder, 'bundle.cjs')
    await build({
      entryPoints: [entry],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outfile,
      logLevel: 'error',
    })
    expect(await printedBy('bundle.cjs')).toEqual(PRINTED)
  })

  it('an error of its ESM is an instance of the classes of its CJS, and the other way round', async () => {
    await written(
      'copies.mjs',
      `
      import { createRequire } from 'node:module'
      import * as esm from '@tollgate/sdk/node'
      const cjs = createRequire(import.meta.url)('@tollgate/sdk/node')
      const details = { code: 'USER_NOT_FOUND', status: 404 }
      const kinds = (sdk, error) => [
        sdk.TollgateError, sdk.UserNotFoundError, sdk.NetworkError, class Mine extends sdk.UserNotFoundError {},
      ].map((Class) => error instanceof Class)
      class Mine extends esm.UserNotFoundError {}
      console.log(esm.TollgateError === cjs.TollgateError)
      console.log(...kinds(cjs, new esm.UserNotFoundError('m', details)))
      console.log(...kinds(esm, new cjs.UserNotFoundError('m', details)))
      console.log(...kinds(cjs, new esm.TollgateError('m', details)))
      console.log(...kinds(cjs, new Mine('m', details)))
      console.log([new Error('m'), null, undefined, {}, 'Error', { name: 'Error' }].some((value) => kinds(cjs, value).includes(true)))
      `,
    )
    expect(await printedBy('copies.mjs')).toEqual([
      'false',
      'true true false false',
      'true true false false',
      'true false false false',
      'true true false false',
      'false',
    ])
  })

  const TYPED = `
    import { createElement, type ReactNode } from 'react'
    import { type Check, NetworkError, type Result, Tollgate, type UserNotFoundError } from '@tollgate/sdk/node'
    import { TollgateClient, type UsagePeriod } from '@tollgate/sdk/browser'
    import { Gate, TollgateProvider, useFeature, useUsage } from '@tollgate/sdk/react'
    import { TollgateServerProvider } from '@tollgate/sdk/openfeature/server'
    import { TollgateWebProvider } from '@tollgate/sdk/openfeature/web'
    import { OpenFeature } from '@openfeature/server-sdk'
    import { OpenFeature as Web } from '@openfeature/web-sdk'

    export async function main(tollgate: Tollgate): Promise<string> {
      const check: Result<Check> = await tollgate.canUseFeature({ userId: 'ann', featureId: 'calls' })
      if (check.error) return check.error.name
      const { data } = await tollgate.package({ id: 'plan', includeFeatures: true })
      const bare = await tollgate.package({ id: 'plan' })
      // @ts-expect-error features come only when they are asked for
      bare.data?.features
      // @ts-expect-error a delta is a number
      await tollgate.recordUsage({ userId: 'ann', featureId: 'calls', delta: '1' })
      OpenFeature.setProvider(new TollgateServerProvider(tollgate))
      for await (const user of tollgate.allUsers({ pageSize: 10 }, { timeout: 5, retry: () => false })) use(user.email)
      for await (const { features } of tollgate.allPackages({ includeFeatures: true })) use(features[0]?.id)
      return check.data.reason + (data?.features[0]?.limit ?? '')
    }
    declare function use(text: string | null | undefined): void

    export function narrowed({ data, error }: Result<Check>): string {
      if (!error) return data.reason
      if (error instanceof NetworkError) return String(error.mayHaveArrived)
      switch (error.code) {
        case 'USER_NOT_FOUND': {
          const found: UserNotFoundError = error
          return found.name
        }
        case 'BAD_USER_INPUT':
          return error.name === 'SubscriptionError' ? error.message : (error.field ?? '')
        case 'RATE_LIMITED':
          // @ts-expect-error only a NetworkError may have arrived
          error.mayHaveArrived
          return String(error.retryAfter)
        // @ts-expect-error there is no such code
        case 'NO_SUCH_CODE':
          return ''
        // @ts-expect-error network errors are out by now
        case 'TIMEOUT':
          return ''
        default: {
          // @ts-expect-error not any more
          const code: 'USER_NOT_FOUND' = error.code
          return code + error.requestId
        }
      }
    }

    export function App(): ReactNode {
      const client = new TollgateClient({ baseUrl: '', token: async () => '' })
      Web.setProvider(new TollgateWebProvider(client, { track: ({ featureId, delta }) => [featureId, delta] }))
      // @ts-expect-error a page has no Admin key
      new TollgateClient({ baseUrl: '', apiKey: '' })
      const usage: UsagePeriod | null = useUsage('calls').usage
      const access: boolean | null = useFeature('calls', { delta: 2 }).access
      // @ts-expect-error a gate is for a feature
      createElement(Gate, { fallback: usage?.periodEnd })
      return createElement(TollgateProvider, { client }, createElement(Gate, { feature: 'calls' }, String(access)))
    }`
  it('its types hold, imported and required', async () => {
    const files = ['types.mts', 'types.cts']
    for (const file of files) await written(file, TYPED)
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    // TypeScript's own declarations hold: checking them would take as long as the rest.
    const options =
      '--noEmit --skipDefaultLibCheck --strict --exactOptionalPropertyTypes --target es2022 --lib es2022,dom --module nodenext --types node'
    const { stdout } = await run(process.execPath, [tsc, ...options.split(' '), ...files], {
      cwd: project.folder,
    }).catch((failed) => failed)
    expect(stdout).toBe('')
  }, 180_000)

  it('publint has nothing to say', async () => {
    const { messages, pkg = {} } = await publint({ pkgDir: project.installed, pack: false, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  it('attw has nothing to say', async () => {
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js')
    const { stdout } = await run(process.execPath, [attw, project.tarball, '--format', 'json'])
    const { analysis } = JSON.parse(stdout)
    expect(Object.keys(analysis.entrypoints).toSorted()).toEqual(
      [...Object.keys(ENTRIES).map((entry) => `./${entry}`), './package.json'].toSorted(),
    )
    expect(analysis.problems).toEqual([])
  })

  it('has no dependencies and imports none but its peers; a licence and a readme are in it', async () => {
    const manifest = JSON.parse(await readFile(join(project.installed, 'package.json'), 'utf8'))
    expect(manifest.dependencies).toBeUndefined()
    expect(await readdir(project.installed)).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist']))
    const files = await readdir(join(project.installed, 'dist'), { recursive: true })
    const imported = new Set<string>()
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      const code = await readFile(join(project.installed, 'dist', file), 'utf8')
      for (const [, from = ''] of code.matchAll(/(?:\bfrom |^import |\brequire\()"([^".][^"]*)"/gm))
        imported.add(from)
    }
    expect([...imported].toSorted()).toEqual(Object.keys(manifest.peerDependencies).toSorted())
  })
})

describe('sizes, minified and gzipped', () => {
  async function sizeOf(contents: string): Promise<number> {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: project.folder },
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      external: ['react'],
      write: false,
    })
    return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  }
  const BROWSER = "export * from '@tollgate/sdk/browser'"
  const REACT = "export * from '@tollgate/sdk/react'"

  it.each([
    ['browser', 5_100, BROWSER],
    ['React, with the browser client', 7_000, `${BROWSER}; ${REACT}`],
  ])('%s: under %i bytes, and what docs/sdk.md states', async (name, limit, contents) => {
    const size = await sizeOf(contents)
    expect(size).toBeLessThan(limit)
    const docs = await readFile(join(ROOT, 'docs/sdk.md'), 'utf8')
    const stated = Number(new RegExp(`\\| ${name} \\| ([\\d.]+) KB`).exec(docs)?.[1])
    expect(Math.abs(stated * 1_000 - size)).toBeLessThanOrEqual(100)
  })
})
