import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSchema, type GraphQLSchema, Kind, parse, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import { CLIENT_DOCUMENTS } from '../src/browser/documents.ts'
import { DETAILED_CHECK, DOCUMENTS, isMutation, type Operation } from '../src/documents.ts'
import { Tollgate } from '../src/node.ts'

const SDL = fileURLToPath(new URL('../../server/schema/admin.graphql', import.meta.url))
const schema: GraphQLSchema = buildSchema(readFileSync(SDL, 'utf8'))
const OPERATIONS = Object.keys(DOCUMENTS) as Operation[]
const fieldsOf = (type = schema.getQueryType()) => Object.keys(type?.getFields() ?? {})

describe('the documents', () => {
  it.each(OPERATIONS)('%s fits the committed schema', (operation) => {
    expect(validate(schema, parse(DOCUMENTS[operation]))).toEqual([])
  })

  it('the detailed check fits the committed schema too, and takes the arguments of the other', () => {
    expect(validate(schema, parse(DETAILED_CHECK))).toEqual([])
    const signature = (text: string) => text.slice(0, text.indexOf('{'))
    expect(signature(DETAILED_CHECK)).toBe(signature(DOCUMENTS.canUseFeature))
  })

  it.each(OPERATIONS)('%s is one operation of its name, asking for the field of its name', (operation) => {
    const [definition, ...others] = parse(DOCUMENTS[operation]).definitions
    if (definition?.kind !== Kind.OPERATION_DEFINITION) throw new Error('not an operation')
    expect(others).toEqual([])
    expect(definition.name?.value).toBe(operation)
    expect(definition.operation).toBe(isMutation(operation) ? 'mutation' : 'query')
    expect(definition.selectionSet.selections).toMatchObject([{ name: { value: operation } }])
  })

  it('spec §4: every operation is offered but generateSubscriptionLink, and has its method', () => {
    const offered = [...fieldsOf(), ...fieldsOf(schema.getMutationType())]
    expect(OPERATIONS.toSorted()).toEqual(
      offered.filter((name) => name !== 'generateSubscriptionLink').toSorted(),
    )
    expect(OPERATIONS.filter((name) => typeof Tollgate.prototype[name] !== 'function')).toEqual([])
    expect('generateSubscriptionLink' in Tollgate.prototype).toBe(false)
  })
})

describe('the documents of a page', () => {
  const client = buildSchema(
    readFileSync(new URL('../../server/schema/client.graphql', import.meta.url), 'utf8'),
  )

  it.each(
    Object.entries(CLIENT_DOCUMENTS),
  )('%s fits the committed schema, and asks for its field', (name, text) => {
    expect(validate(client, parse(text))).toEqual([])
    const [definition] = parse(text).definitions
    expect(definition).toMatchObject({
      name: { value: name },
      selectionSet: { selections: [{ name: { value: name } }] },
    })
  })
})

describe('the build', () => {
  const CHECK = fileURLToPath(new URL('../check.mjs', import.meta.url))
  const load = async () =>
    (await import(CHECK)) as {
      checkAgainstServer(): Promise<void>
      misfitsOf(schema: string, documents: Record<string, string>): string[]
    }

  it('takes what fits the service', async () => {
    await (await load()).checkAgainstServer()
  })

  it('refuses a document that the service would', async () => {
    const { misfitsOf } = await load()
    expect(misfitsOf('client', { users: '{ users { id } }', me: '{ me { id } }' })).toEqual([
      expect.stringContaining('client users: Cannot query field "users"'),
    ])
  })
})
