import {
  coerceInputValue,
  type GraphQLArgument,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredArgument,
} from 'graphql'
import { badUserInput, TollgateError } from '../domain/errors.ts'

/** An argument under the name that it has in REST. */
export interface Named {
  name: string
  arg: GraphQLArgument
}

const NUMBERS = new Set(['Int', 'SafeInt', 'Float'])
const NUMBER = /^-?\d+(\.\d+)?$/

/** A value of the query string, as JSON would contain it. A value of another type is left to coercion, which rejects it. */
export function fromText(type: GraphQLInputType, texts: readonly string[], name: string): unknown {
  const values = texts.map((text) => scalarFromText(getNamedType(type).name, text))
  if (isListType(getNullableType(type))) return values
  if (values.length > 1) throw badUserInput(`${name} must be given once`, name)
  return values[0]
}

function scalarFromText(type: string, text: string): unknown {
  if (NUMBERS.has(type) && NUMBER.test(text)) return Number(text)
  if (type === 'Boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** The error of arguments that GraphQL did not accept, in terms of REST. */
export function rejection(
  args: readonly Named[],
  values: Readonly<Record<string, unknown>>,
): TollgateError | null {
  for (const { name, arg } of args) {
    const value = values[arg.name]
    if (value === undefined) {
      if (isRequiredArgument(arg)) return required(name)
      continue
    }
    const found = firstMistake(value, arg.type, isBody(arg) ? '' : name)
    if (found) return found
  }
  return null
}

/** The argument that the body of a request is. */
export const isBody = ({ name, type }: GraphQLArgument): boolean =>
  name === 'input' && isInputObjectType(getNullableType(type))

const required = (name: string) => badUserInput(`${name} is required`, name)

/** `within` is the name of the value; empty: the whole body. */
function firstMistake(value: unknown, type: GraphQLInputType, within: string): TollgateError | null {
  try {
    // Thrown at once: each further mistake would quote a value.
    coerceInputValue(value, type, (path, _value, error) => {
      throw new Mistake(path, error)
    })
    return null
  } catch (error) {
    if (error instanceof Mistake) return error.toError(within, type)
    throw error
  }
}

class Mistake extends Error {
  readonly #path: readonly (string | number)[]
  readonly #error: Error & { originalError?: unknown }

  constructor(path: readonly (string | number)[], error: Error) {
    super(error.message)
    this.#path = path
    this.#error = error
  }

  /** `type` is that of the whole value. */
  toError(within: string, type: GraphQLInputType): TollgateError {
    const { message, originalError } = this.#error
    const [, missing] = /^Field "(\w+)" of required type .* was not provided/s.exec(message) ?? []
    const [, unknown] = /^Field "(.*)" is not defined by type/s.exec(message) ?? []
    const named = missing ?? unknown
    const field = nameOf(within, named === undefined ? this.#path : [...this.#path, named])
    if (missing !== undefined) return required(field)
    if (unknown !== undefined) return unknownName(field)
    if (originalError instanceof TollgateError) {
      const { message: own, field: ownField } = originalError
      return badUserInput(ownField === null ? `${field}: ${own}` : own, ownField ?? field)
    }
    if (message.startsWith('Expected non-nullable')) return badUserInput(`${field} must not be null`, field)
    const leaf = getNamedType(typeAt(type, this.#path))
    if (isEnumType(leaf)) {
      const names = leaf.getValues().map(({ name }) => name)
      return badUserInput(`${field} must be one of ${names.join(', ')}`, field)
    }
    const [, rule] = RULES.find(([pattern]) => pattern.test(message)) ?? []
    return badUserInput(rule === undefined ? `${field}: ${message}` : `${field} ${rule}`, field)
  }
}

/** Messages of graphql-js about values of the wrong type, which name types of GraphQL. */
const RULES: readonly [pattern: RegExp, rule: string][] = [
  [/^String cannot represent/, 'must be a string'],
  [/^Boolean cannot represent/, 'must be true or false'],
  [/^Int cannot represent non 32-bit/, `must be between ${-(2 ** 31)} and ${2 ** 31 - 1}`],
  [/^Int cannot represent/, 'must be an integer'],
  [/^Expected type "\w+" to be an object/, 'must be an object'],
]

/** The type of the value that a path leads to. A list may be given as its only item, which is then at the list's path. */
function typeAt(type: GraphQLInputType, path: readonly (string | number)[]): GraphQLInputType {
  let at = type
  for (const step of path) {
    const whole = getNullableType(at)
    const inner = typeof step === 'number' && isListType(whole) ? whole.ofType : getNamedType(whole)
    at = typeof step === 'string' && isInputObjectType(inner) ? (inner.getFields()[step]?.type ?? at) : inner
  }
  return at
}

/** `features[0].entitlement.limit` */
function nameOf(within: string, path: readonly (string | number)[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
  return `${within}${steps.join('')}`.replace(/^\./, '') || 'body'
}

export const unknownName = (name: string) =>
  badUserInput(`Unknown field ${JSON.stringify(name.slice(0, 80))}`, name.slice(0, 80))
