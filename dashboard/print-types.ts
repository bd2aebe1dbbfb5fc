// Writes the types of the dashboard's API, which its documents are checked against.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { minifyIntrospection, outputIntrospectionFile } from 'gql.tada/internal'
import { buildSchema, introspectionFromSchema } from 'graphql'

/** The one place that names the schema. */
const SCHEMA = new URL('../server/schema/dashboard.graphql', import.meta.url)
const TYPES = new URL('src/api/schema.d.ts', import.meta.url)

const [given] = process.argv.slice(2)
const schema = buildSchema(readFileSync(given ?? fileURLToPath(SCHEMA), 'utf8'))
const introspection = minifyIntrospection(introspectionFromSchema(schema))
const types = outputIntrospectionFile(introspection, { fileType: '.d.ts', shouldPreprocess: true })
// Left alone when nothing has changed: the pages would be taken for out of date.
if (!existsSync(TYPES) || readFileSync(TYPES, 'utf8') !== types) writeFileSync(TYPES, types)
