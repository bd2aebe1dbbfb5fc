import { badRequest } from '../domain/errors.ts'
import { isObject, parseJson, utf8Of } from './json-body.ts'

interface GraphqlRequest {
  query: string
  variables: Record<string, unknown>
  operationName: string | null
}

/** Parses the request in a body. `variables` is an object, or one serialised into a string. */
export function parseGraphqlRequest(body: Buffer): GraphqlRequest {
  const parsed = parseJson(utf8Of(body), 'The request body')
  if (Array.isArray(parsed)) throw badRequest('Batches are not supported. Send one operation per request.')
  if (!isObject(parsed)) throw badRequest('The request body must be a JSON object with a "query"')
  const { query, variables, operationName } = parsed
  if (typeof query !== 'string' || query.trim() === '') {
    throw badRequest('The request body must contain a "query" string')
  }
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw badRequest('"operationName" must be a string')
  }
  return { query, variables: variablesOf(variables), operationName: operationName ?? null }
}

function variablesOf(variables: unknown): Record<string, unknown> {
  const parsed =
    typeof variables === 'string' && variables.trim() !== '' ? parseJson(variables, '"variables"') : variables
  if (parsed === undefined || parsed === null || parsed === '' || typeof parsed === 'string') {
    if (typeof parsed === 'string' && parsed.trim() !== '') throw notAnObject()
    return {}
  }
  if (!isObject(parsed) || Array.isArray(parsed)) throw notAnObject()
  return parsed
}

const notAnObject = () => badRequest('"variables" must be a JSON object, or a string containing one')
