import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT, run, SDK } from './support/packed.ts'

// Every block of code in docs/sdk.md, compiled against the built package. The blocks are fragments of a reader's program:
// what they take from the rest of it is declared here.

const READERS_PROGRAM = `
declare const error: import('@tollgate/sdk/node').CallError | null
declare const userId: string
declare const featureId: string
declare const subscription: import('@tollgate/sdk/node').PackageSubscription
declare const job: { id: string }
declare const event: import('@tollgate/sdk/node').CreateUsageEventInput
declare const log: { warn(details: object, message: string): void }
declare const reply: Reply
interface Reply { header(name: string, value: string): Reply; code(status: number): Reply; send(body?: unknown): void }
declare const button: HTMLButtonElement
declare const bar: HTMLProgressElement
declare const root: Element
declare const baseUrl: string
declare const token: string
declare const backend: import('@tollgate/sdk/node').Tollgate
declare function serve(): void
declare function refuse(reason?: string | null): void
declare function show(...values: unknown[]): void
declare function respond(text?: string): void
declare function retryLater(mayHaveArrived: boolean): void
declare function work(units: number): Promise<number>
declare function answer(): AsyncIterable<string>
declare function send(text: string): void
declare function Upgrade(): import('react').ReactElement
declare function ExportButton(): import('react').ReactElement
declare function renderToString(node: import('react').ReactNode): string
declare function hydrateRoot(root: Element, node: import('react').ReactNode): unknown
`

/** Imported where a fragment uses them and does not say from where. */
const IMPORTS: [name: string, from: string][] = [
  ['Tollgate', '@tollgate/sdk/node'],
  ['SubscriptionError', '@tollgate/sdk/node'],
  ['NetworkError', '@tollgate/sdk/node'],
  ['type UsagePeriod', '@tollgate/sdk/node'],
  ['TollgateClient', '@tollgate/sdk/browser'],
  ['TollgateProvider', '@tollgate/sdk/react'],
]

interface Fragment {
  section: string
  code: string
}

function fragmentsOf(text: string): Fragment[] {
  return text.split(/^(?=## )/m).flatMap((part) => {
    const section = /^## (.*)/.exec(part)?.[1] ?? ''
    return [...part.matchAll(/^```tsx?\n([\s\S]*?)^```$/gm)].map(([, code = '']) => ({ section, code }))
  })
}

/** A module whose one function is the fragment. */
function moduleOf({ section, code }: Fragment): string {
  const lines = code.split('\n')
  const imports = lines.filter((line) => line.startsWith('import '))
  const body = lines.filter((line) => !line.startsWith('import ')).join('\n')
  const imported = (name: string) => imports.some((line) => new RegExp(`\\b${name}\\b`).test(line))
  const isPage = /browser|React/.test(section)
  for (const [name, from] of IMPORTS) {
    const bare = name.replace('type ', '')
    if (new RegExp(`\\b${bare}\\b`).test(body) && !imported(bare))
      imports.push(`import { ${name} } from '${from}'`)
  }
  if (body.includes('OpenFeature.'))
    imports.push(`import { OpenFeature } from '@openfeature/${body.includes('Web') ? 'web' : 'server'}-sdk'`)
  if (body.includes('await setTimeout(')) imports.push(`import { setTimeout } from 'node:timers/promises'`)
  const client = isPage
    ? `import('@tollgate/sdk/browser').TollgateClient`
    : `import('@tollgate/sdk/node').Tollgate`
  return [
    ...imports,
    READERS_PROGRAM,
    `declare const tollgate: ${client}`,
    `export async function fragment(): Promise<unknown> {\n${body}\nreturn null\n}`,
  ].join('\n')
}

it('every fragment of docs/sdk.md compiles', async () => {
  await run(process.execPath, ['build.mjs', '--if-stale'], { cwd: SDK })
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-fragments-'))
  try {
    const fragments = fragmentsOf(await readFile(join(ROOT, 'docs/sdk.md'), 'utf8'))
    expect(fragments.length).toBeGreaterThan(20)
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const options = {
      strict: true,
      // A fragment leaves out what its reader's editor would fill in.
      noImplicitAny: false,
      target: 'es2023',
      module: 'nodenext',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: ['node'],
      jsx: 'react-jsx',
      skipLibCheck: true,
      noEmit: true,
    }
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }))
    for (const [i, fragment] of fragments.entries())
      await writeFile(join(folder, `fragment-${i}.tsx`), moduleOf(fragment))
    const tsc = join(ROOT, 'node_modules/typescript-native/bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((failed) => failed)
    expect(stdout).toBe('')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
