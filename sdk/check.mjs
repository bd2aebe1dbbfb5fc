// Holds the SDK against the service: its documents against the committed schemas, its error table against the
// service's own. A package that would not fit is not built.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { build } from 'esbuild'
import { buildSchema, parse, validate } from 'graphql'

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))

export async function checkAgainstServer() {
  const { DETAILED_CHECK, DOCUMENTS } = await load('src/documents.ts')
  const { CLIENT_DOCUMENTS } = await load('src/browser/documents.ts')
  const { ERROR_TABLE } = await load('src/errors.ts')
  const { ERRORS } = await load('../server/src/domain/errors.ts')
  const misfits = [
    ...misfitsOf('admin', { ...DOCUMENTS, DETAILED_CHECK }),
    ...misfitsOf('client', CLIENT_DOCUMENTS),
  ]
  for (const code of new Set([...Object.keys(ERRORS), ...Object.keys(ERROR_TABLE)]))
    if (!isDeepStrictEqual(ERRORS[code], ERROR_TABLE[code])) misfits.push(`the error table: ${code}`)
  if (misfits.length > 0) throw new Error(`The SDK does not match the service:\n${misfits.join('\n')}`)
}

/** Every document that is not valid in the schema, with what is wrong. */
export function misfitsOf(schemaName, documents) {
  const schema = buildSchema(readFileSync(path(`../server/schema/${schemaName}.graphql`), 'utf8'))
  return Object.entries(documents).flatMap(([name, text]) =>
    validate(schema, parse(text)).map(({ message }) => `${schemaName} ${name}: ${message}`),
  )
}

async function load(file) {
  const options = {
    entryPoints: [path(file)],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'warning',
  }
  const [{ text }] = (await build(options)).outputFiles
  return import(`data:text/javascript,${encodeURIComponent(text)}`)
}
