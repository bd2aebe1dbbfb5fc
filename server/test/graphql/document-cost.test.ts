import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execute, type GraphQLSchema, getIntrospectionQuery, parse, validate, visit } from 'graphql'
import { describe, expect, it } from 'vitest'
import { CLIENT_DOCUMENTS } from '../../../sdk/src/browser/documents.ts'
import { DOCUMENTS } from '../../../sdk/src/documents.ts'
import { MAX_CLIENT_COST, MAX_COST } from '../../src/domain/limits.ts'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { clientSchema } from '../../src/graphql/client/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { documentLimitsRule } from '../../src/graphql/engine/document-limits.ts'

const ADMIN = { schema: adminSchema(), most: MAX_COST }
const CLIENT = { schema: clientSchema(), most: MAX_CLIENT_COST }
const DASHBOARD = { schema: dashboardSchema(), most: MAX_COST }

/** What the rule says of a document; null: it may be executed. */
function refusal({ schema, most }: { schema: GraphQLSchema; most: number }, text: string): string | null {
  return validate(schema, parse(text), [documentLimitsRule({ cost: most })])[0]?.message ?? null
}

/** Its cost as the refusal tells it, where nothing at all is allowed. */
function costOf({ schema }: { schema: GraphQLSchema }, text: string): number {
  const message = refusal({ schema, most: -1 }, text) ?? ''
  return Number(/its cost is (\d+)/.exec(message)?.[1])
}

/** Every operation in the dashboard's sources, each with the fragments that it spreads. */
function dashboardDocuments(): string[] {
  const folder = fileURLToPath(new URL('../../../dashboard/src', import.meta.url))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  )
  const texts = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/graphql\(\s*`([^`]+)`/g)].map(
      ([, text = '']) => text,
    ),
  )
  const fragments = new Map(
    texts.flatMap((text) => {
      const name = /^\s*fragment (\w+)/.exec(text)?.[1]
      return name ? [[name, text] as const] : []
    }),
  )
  const complete = (text: string): string => {
    const spread = new Set<string>()
    const collect = (part: string): void => {
      visit(parse(part), {
        FragmentSpread({ name: { value } }) {
          if (spread.has(value)) return
          spread.add(value)
          collect(fragments.get(value) ?? '')
        },
      })
    }
    collect(text)
    return [text, ...[...spread].map((name) => fragments.get(name))].join('\n')
  }
  return texts.filter((text) => !/^\s*fragment /.test(text)).map(complete)
}

const INTROSPECTION = getIntrospectionQuery({
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
})

const PACKAGE = `id name isAddon status metadata updatedAt prices { id provider amount currency displayAmount interval }
  features { id name type unitLabel unitLabelPlural limit metadata }`

const times = (count: number, field: string): string =>
  `{ ${Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ')} }`

describe('gap: the cost of a document', () => {
  it('lets through all that the SDK sends', () => {
    for (const text of Object.values(DOCUMENTS)) expect([refusal(ADMIN, text), text]).toEqual([null, text])
    for (const text of Object.values(CLIENT_DOCUMENTS))
      expect([refusal(CLIENT, text), text]).toEqual([null, text])
  })

  it('lets through all that the dashboard sends, with room to spare', () => {
    const documents = dashboardDocuments()
    expect(documents.length).toBeGreaterThan(60)
    const dearest = Math.max(...documents.map((text) => costOf(DASHBOARD, text)))
    expect(dearest * 4).toBeLessThan(MAX_COST)
    for (const text of documents) expect([refusal(DASHBOARD, text), text]).toEqual([null, text])
  })

  it.for([
    ['Admin', ADMIN],
    ['client', CLIENT],
    ['dashboard', DASHBOARD],
  ] as const)('lets tools ask the %s API for its whole schema once, and not twice', ([, api]) => {
    expect(refusal(api, INTROSPECTION)).toBeNull()
    const twice = INTROSPECTION.replace('__schema', 'again: __schema { ...All } __schema').concat(
      'fragment All on __Schema { types { ...FullType } directives { args { ...InputValue } } }',
    )
    expect(refusal(api, twice)).toMatch(/too expensive \(introspection\)/)
  })

  it('counts aliases: an end user gets all packages twice at once, not fifty times', () => {
    expect(refusal(CLIENT, times(2, `packages { ${PACKAGE} }`))).toBeNull()
    expect(refusal(CLIENT, times(3, `packages { ${PACKAGE} }`))).toMatch(/too expensive:/)
    expect(refusal(CLIENT, times(50, `packages { ${PACKAGE} }`))).toMatch(/too expensive:/)
    expect(refusal(CLIENT, times(50, '__schema { types { name fields { name type { name } } } }'))).toMatch(
      /too expensive \(introspection\)/,
    )
  })

  it('lets a page ask for all that it shows at once', () => {
    const page = `{ me { id name email } packages { ${PACKAGE} } subscriptions { id status package { ${PACKAGE} } }
      ${Array.from({ length: 20 }, (_, i) => `f${i}: canUseFeature(featureId: "f${i}") { access reason reasonCode }`).join(' ')} }`
    expect(refusal(CLIENT, page)).toBeNull()
  })

  it('lets a backend ask fifty things at once that are each about one user or package', () => {
    const check = 'canUseFeature(userId: "u", featureId: "f") { access reason consumption { used budget } }'
    for (const field of [check, `package(id: "p") { ${PACKAGE} }`]) {
      expect(refusal(ADMIN, times(50, field))).toBeNull()
    }
    expect(refusal(ADMIN, times(1, `features { id name packages { ${PACKAGE} } }`))).toBeNull()
    expect(refusal(ADMIN, times(2, `features { id name packages { ${PACKAGE} } }`))).toMatch(/too expensive:/)
  })

  it('sees through fragments, named and inline', () => {
    const fields = Array.from({ length: 50 }, (_, i) => `a${i}: packages { ...P }`).join(' ')
    const fragment = `fragment P on Package { ${PACKAGE} }`
    for (const text of [
      `{ ${fields} } ${fragment}`,
      `{ ... on Query { ${fields} } } ${fragment}`,
      `{ ...All } fragment All on Query { ${fields} } ${fragment}`,
    ]) {
      expect(refusal(CLIENT, text)).toMatch(/too expensive:/)
    }
  })

  it('multiplies lists within lists', () => {
    const one = costOf(ADMIN, '{ packages { id } }')
    expect(costOf(ADMIN, '{ features { packages { id } } }')).toBeGreaterThan(9 * one)
    expect(
      refusal(
        ADMIN,
        `{ __schema { types { fields { type { ${'fields { name type { name kind } args { name } } '.repeat(3)} } } } } }`,
      ),
    ).toMatch(/too expensive \(introspection\)/)
  })

  it.for([
    ['Admin', ADMIN],
    ['client', CLIENT],
  ] as const)('keeps the largest answer about the schema of the %s API below 1.5 MiB', async ([, api]) => {
    const selections = [
      'types { description }',
      'types { name description kind }',
      'types { description fields { description } }',
      'types { name fields { name type { name } } }',
      'types { fields { args { description defaultValue } } inputFields { name description } }',
      'types { enumValues { name description } possibleTypes { name description } }',
    ]
    for (const selection of selections) {
      const asking = (count: number) => times(count, `__schema { ${selection} }`)
      let [allowed, refused] = [1, 51]
      while (refused - allowed > 1) {
        const count = Math.floor((allowed + refused) / 2)
        if (refusal(api, asking(count)) === null) allowed = count
        else refused = count
      }
      expect(refusal(api, asking(allowed))).toBeNull()
      const { data } = await execute({ schema: api.schema, document: parse(asking(allowed)) })
      expect(JSON.stringify(data).length).toBeLessThan(1.5 * 1024 * 1024)
    }
  })

  it('counts what it does not know, whatever its name', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'nothing']) {
      expect(refusal(ADMIN, `{ ${name} { ${name} } }`)).toBeNull()
    }
  })
})
