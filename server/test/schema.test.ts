import { readFileSync } from 'node:fs'
import { buildSchema, findBreakingChanges } from 'graphql'
import { describe, expect, it } from 'vitest'
import { printed, SCHEMAS } from './harness/schemas.ts'

describe('spec §2 and §4: the schemas', () => {
  it.for(SCHEMAS)('$name: the file says what the service serves', ({ file, schema }) => {
    const message = 'The schema has changed: `npm run schema` writes it, and the change is reviewed there'
    expect(printed(schema), message).toBe(readFileSync(file, 'utf8'))
  })
})

describe('spec §9: versioning', () => {
  const [admin] = SCHEMAS

  it('changes of the Admin API are additions', () => {
    const agreed = buildSchema(readFileSync(admin?.file ?? '', 'utf8'))
    // Built from its text, as the other side is: what code adds to a type is no part of what callers see.
    const served = buildSchema(admin ? printed(admin.schema) : '')
    const broken = findBreakingChanges(agreed, served).map(({ description }) => description)
    expect(broken, 'This breaks operations that callers have written: add, and leave what is there').toEqual(
      [],
    )
  })

  it('a field taken away would be found', () => {
    const text = readFileSync(admin?.file ?? '', 'utf8')
    const without = buildSchema(text.replace(/^ {2}access: Boolean!\n/m, ''))
    const broken = findBreakingChanges(buildSchema(text), without)
    expect(broken.map(({ description }) => description)).toEqual(['CanUseFeatureData.access was removed.'])
  })
})
