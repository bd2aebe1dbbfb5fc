import assert from 'node:assert/strict'
import type { Client } from '../harness/client.ts'

interface TypeRef {
  kind: string
  name: string | null
  ofType: TypeRef | null
}

interface Described {
  name: string
  type: TypeRef
}

export interface Argument extends Described {
  defaultValue: string | null
}

interface Type {
  kind: string
  fields: (Described & { args: Argument[] })[] | null
  inputFields: Argument[] | null
  enumValues: { name: string }[] | null
}

const REF = 'kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }'

export async function typeNamed(admin: Client, name: string): Promise<Type> {
  const { __type } = await admin.data(
    `query ($name: String!) {
      __type(name: $name) {
        kind
        fields { name type { ${REF} } args { name defaultValue type { ${REF} } } }
        inputFields { name defaultValue type { ${REF} } }
        enumValues { name }
      }
    }`,
    { name },
  )
  assert.ok(__type, `there is no type ${name}`)
  return __type
}

/** As GraphQL writes it: `[Feature!]!`. */
export function written({ kind, name, ofType }: TypeRef): string {
  if (kind === 'NON_NULL' && ofType) return `${written(ofType)}!`
  if (kind === 'LIST' && ofType) return `[${written(ofType)}]`
  return name ?? ''
}

/** Without its exclamation marks: the spec says for few fields whether they may be null. */
export const loosely = (type: TypeRef): string => written(type).replaceAll('!', '')

export async function operation(admin: Client, root: 'Query' | 'Mutation', name: string) {
  const field = (await typeNamed(admin, root)).fields?.find((f) => f.name === name)
  assert.ok(field, `there is no ${name}`)
  return field
}
