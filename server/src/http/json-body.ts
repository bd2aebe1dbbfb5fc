import { badRequest } from '../domain/errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function utf8Of(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw badRequest('The request body must be UTF-8')
  }
}

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest(`${what} must be valid JSON`)
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
