import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../server/src/domain/errors.ts'
import { anchorOf } from '../links.ts'
import { errorsPage } from '../reference/errors-page.ts'
import { generatedPages } from '../reference/generated-pages.ts'
import { graphqlPage } from '../reference/graphql-page.ts'
import { limitsPage } from '../reference/limits-page.ts'
import { table, text } from '../reference/markdown.ts'
import { openapiPage } from '../reference/openapi-page.ts'

describe('the GraphQL reference', () => {
  const page = graphqlPage(
    'admin',
    `
    type Query { "Finds a thing." thing(id: String!, kind: Kind = SMALL, tags: [String!]): Thing! }
    type Mutation { thing(input: ThingInput!): Thing }
    "A thing <b> with {{ braces }} and \`code|bar\`."
    type Thing { "The id." id: String! kind: Kind }
    input ThingInput { id: String! = "x" }
    enum Kind { "Not large." SMALL LARGE }
    scalar JSON
    `,
  )

  it('has each operation with its arguments, defaults and result', () => {
    expect(page).toContain('### thing {#thing}\n\nFinds a thing.\n\nReturns [`Thing!`](#type-thing).')
    expect(page).toContain('| `id` | `String!` |  |')
    expect(page).toContain('| `kind` | [`Kind`](#type-kind) | `SMALL` |')
  })

  it('has each type with its fields or values, and escapes what is no text', () => {
    expect(page).toContain(
      '### Thing {#type-thing}\n\nA thing &lt;b> with &#123;&#123; braces }} and `code\\|bar`.',
    )
    expect(page).toContain('| `SMALL` | Not large. |')
    expect(page).toContain('| `id` | `String!` | `"x"` |')
    expect(page).toContain('## Scalars\n\n### JSON {#type-json}')
  })
})

describe('the REST reference', () => {
  it('has each route with its parameters, body and answers', () => {
    const page = openapiPage({
      info: { description: 'About.' },
      paths: {
        '/v1/things/{id}': {
          patch: {
            operationId: 'updateThing',
            tags: ['Things'],
            'x-tollgate-scope': 'ALL',
            summary: 'Update thing',
            description: 'Changes a thing.',
            parameters: [{ $ref: '#/components/parameters/id' }],
            requestBody: {
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
            },
            responses: {
              200: {
                content: {
                  'application/json': {
                    schema: {
                      properties: { data: { type: 'array', items: { $ref: '#/components/schemas/Thing' } } },
                    },
                  },
                },
              },
              404: { description: 'Not found.' },
            },
          },
        },
      },
      components: {
        parameters: { id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
        schemas: {
          Thing: {
            required: ['tags'],
            properties: {
              tags: { type: 'array', items: { type: 'string' } },
              size: { type: ['integer', 'null'] },
            },
          },
        },
      },
    })
    expect(page).toContain(
      '## Things {#tag-things}\n\n### `PATCH /v1/things/{id}` {#updatething}\n\nChanges a thing.\n\nIn GraphQL: `updateThing`. Scope of the key: `ALL`.',
    )
    expect(page).toContain(
      'Answers 200 with an object with `data`: list of [`Thing`](#schema-thing).\n\nErrors: 404.',
    )
    expect(page).toContain('| `id` | path | string, required |')
    expect(page).toContain('Body: [`Thing`](#schema-thing).')
    expect(page).toContain('| `tags` | list of string, required |\n| `size` | integer or null |')
  })
})

describe('the tables of errors and limits', () => {
  it('have every error, with its status', () => {
    const page = errorsPage()
    for (const [code, { status }] of Object.entries(ERRORS))
      expect(page).toContain(`\`${code}\`<br>${status},`)
  })

  it('have the values that the service enforces', () => {
    expect(limitsPage()).toContain('| Metadata of one object | 16 KiB, 32 levels |')
    expect(limitsPage()).toContain('| Lifetime of a user token | 1 hour |')
    expect(limitsPage()).toContain('| Validity of an invitation | 7 days |')
  })
})

describe('every generated page', () => {
  it.each(generatedPages().map(({ page, text }) => [page, text]))('%s has no anchor twice', (_, page) => {
    const anchors = [...page.matchAll(/^#+ (.*?)(?: \{#(.+)\})?$/gm)].map(
      ([, heading = '', anchor]) => anchor ?? anchorOf(heading),
    )
    expect(anchors.filter((anchor, at) => anchors.indexOf(anchor) < at)).toEqual([])
  })
})

describe('Markdown', () => {
  it('leaves out columns that are empty in every row', () => {
    expect(table(['a', 'b', 'c'], [['1', '', '3']])).toBe('| a | c |\n| --- | --- |\n| 1 | 3 |')
    expect(table(['a'], [])).toBe('')
  })

  it('is one line of plain text', () => {
    expect(text('a\n  <b> & `<c>` | d')).toBe('a &lt;b> &amp; `<c>` \\| d')
  })
})
