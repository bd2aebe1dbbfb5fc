import {
  type ExecutionResult,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
} from 'graphql'
import { badUserInput } from '../domain/errors.ts'
import { MAX_PAGE } from '../domain/limits.ts'
import type { AdminContext } from '../graphql/admin/context.ts'
import { Executable } from '../graphql/engine/executable.ts'
import type { AdminMutation, AdminQuery } from '../operations/registry/registry.ts'
import { fromText, isBody, type Named, rejection, unknownName } from './arguments.ts'
import type { Route } from './routes.ts'
import { selectionOf } from './selection.ts'

/** Items in one answer of a list, unless `first` is given. */
export const DEFAULT_PAGE = 100

export type OperationName = AdminQuery | AdminMutation

/** The values of a request: of its path, query string and body. */
interface Given {
  path: Readonly<Record<string, string>>
  query: URLSearchParams | null
  /** null: the method has none */
  body: Readonly<Record<string, unknown>> | null
}

type Values = Record<string, unknown>

/** An operation of the Admin API as REST offers it: its place in requests, and the document that answers it whole. */
export class RestOperation {
  readonly name: OperationName
  readonly route: Route
  readonly isMutation: boolean
  readonly field: GraphQLField<unknown, unknown>
  /** in the path, in its order */
  readonly inPath: readonly string[]
  /** in the query string, or in a body that is not the argument `input` */
  readonly flat: readonly Named[]
  /** the argument that the body is, and its fields that are not in the path */
  readonly input: { arg: Named['arg']; fields: readonly GraphQLInputField[]; isWhole: boolean } | null
  /** PAGE: a list that is answered in pages */
  readonly result: 'ONE' | 'LIST' | 'PAGE'
  readonly document: string
  readonly #schema: GraphQLSchema
  readonly #executable: Executable
  readonly #args: readonly Named[]
  readonly #restNames: ReadonlyMap<string, string>

  constructor(schema: GraphQLSchema, name: OperationName, route: Route) {
    const { names = {}, without = [] } = route
    const mutation = schema.getMutationType()?.getFields()[name]
    const field = mutation ?? schema.getQueryType()?.getFields()[name]
    if (!field) throw new Error(`${name} has a route and no resolver`)
    this.#schema = schema
    this.name = name
    this.route = route
    this.isMutation = mutation !== undefined
    this.field = field
    this.#restNames = new Map(Object.entries(names).map(([outer, inner]) => [inner, outer]))
    this.#args = field.args
      .filter((arg) => !without.includes(arg.name))
      .map((arg) => ({ name: this.nameOf(arg.name), arg }))
    this.inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const body = this.hasBody ? this.#args.find(({ arg }) => isBody(arg)) : undefined
    this.flat = this.#args.filter(({ name, arg }) => arg !== body?.arg && !this.inPath.includes(name))
    this.input = body ? this.#inputOf(body.arg) : null
    if (this.input && this.flat.length > 0) throw new Error(`${name} has arguments beside its body`)
    const args = field.args.map((arg) => arg.name)
    const paged = args.includes('first') && args.includes('after')
    this.result = isListType(getNullableType(field.type)) ? (paged ? 'PAGE' : 'LIST') : 'ONE'
    this.document = this.#documentOf()
    // Written by this class, so valid: a test validates it.
    this.#executable = new Executable(schema, parse(this.document, { noLocation: true }))
  }

  get hasBody(): boolean {
    return this.route.method !== 'GET' && this.route.method !== 'DELETE'
  }

  /** Whether a request without a body may be complete. */
  get bodyIsOptional(): boolean {
    return this.input
      ? !this.input.fields.some(isRequiredInputField)
      : !this.flat.some(({ arg }) => isRequiredArgument(arg))
  }

  /** The name in REST of an argument or of a field that an error names. */
  nameOf(inner: string): string {
    return this.#restNames.get(inner) ?? inner
  }

  /** The arguments of a request. Unknown names are rejected here, all values by the schema. */
  values({ path, query, body }: Given): Values {
    const values: Values = {}
    if (query) this.#takeQuery(query, values)
    if (body && this.input) values[this.input.arg.name] = body
    else if (body) this.#takeBody(body, values)
    for (const name of this.inPath) this.#takePath(name, path[name] ?? '', values)
    if (this.result === 'PAGE') values.first = firstOf(values.first)
    return values
  }

  /** The status of a success. */
  status(values: Values): number {
    return this.route.creates && values.dryRun !== true ? 201 : 200
  }

  run(context: AdminContext, values: Values): ExecutionResult | Promise<ExecutionResult> {
    return this.#executable.run(context, values, null)
  }

  /** The error of values with which the operation was not started. */
  rejected(values: Values): Error | null {
    return rejection(this.#args, values)
  }

  /** The answer to a success. */
  answer(data: Readonly<Record<string, unknown>>, values: Values): unknown {
    const result = data[this.name]
    if (this.route.page !== undefined) {
      const { [this.route.page]: rows, ...rest } = result as Values
      return { data: rows, ...rest }
    }
    if (this.result === 'ONE') return result
    if (this.result === 'LIST') return { data: result }
    const rows = result as Readonly<Record<string, unknown>>[]
    // One more than asked for was read.
    const size = Number(values.first) - 1
    if (rows.length <= size) return { data: rows, next: null }
    const page = rows.slice(0, size)
    return { data: page, next: page.at(-1)?.[this.route.cursor ?? 'id'] }
  }

  /** Reads the rest of a list that the first execution did not read to the end of the page. */
  async complete(context: AdminContext, data: Record<string, unknown>, values: Values): Promise<void> {
    const rows = data[this.name] as unknown[]
    for await (const more of context.lists.rest(this.name, this.#schema, context, values)) rows.push(...more)
  }

  #inputOf(arg: Named['arg']) {
    const type = getNullableType(arg.type)
    const all = isInputObjectType(type) ? Object.values(type.getFields()) : []
    const fields = all.filter(({ name }) => !this.#isFromPath(name))
    return { arg, fields, isWhole: fields.length === all.length }
  }

  /** Whether a field of the body is given in the path, because the operation has no such argument. */
  #isFromPath(inner: string): boolean {
    const isArgument = this.field.args.some(({ name }) => name === inner)
    return !isArgument && this.inPath.includes(this.nameOf(inner))
  }

  #documentOf(): string {
    const declared = this.#args.map(({ arg }) => `$${arg.name}: ${arg.type}`).join(', ')
    const passed = this.#args.map(({ arg }) => `${arg.name}: $${arg.name}`).join(', ')
    const root = this.isMutation ? 'mutation' : 'query'
    const call = passed === '' ? this.name : `${this.name}(${passed})`
    return `${root}${declared && ` (${declared})`} { ${call} ${selectionOf(this.field.type, this.route.page === undefined ? 'FULL' : 'PAGE')} }`
  }

  #takeQuery(query: URLSearchParams, values: Values): void {
    const known = this.hasBody ? [] : this.flat
    for (const name of query.keys()) {
      if (!known.some((one) => one.name === name))
        throw badUserInput(`Unknown query parameter ${JSON.stringify(name.slice(0, 80))}`, name.slice(0, 80))
    }
    for (const { name, arg } of known) {
      const texts = query.getAll(name)
      if (texts.length > 0) values[arg.name] = fromText(arg.type, texts, name)
    }
  }

  #takeBody(body: Readonly<Record<string, unknown>>, values: Values): void {
    let taken = 0
    for (const { name, arg } of this.flat) {
      if (!Object.hasOwn(body, name)) continue
      values[arg.name] = body[name]
      taken += 1
    }
    const names = Object.keys(body)
    if (taken === names.length) return
    throw unknownName(names.find((name) => !this.flat.some((known) => known.name === name)) ?? '')
  }

  #takePath(name: string, value: string, values: Values): void {
    const inner = this.route.names?.[name] ?? name
    if (!this.#isFromPath(inner) || !this.input) {
      values[inner] = value
      return
    }
    const { arg } = this.input
    const body = values[arg.name] as Readonly<Record<string, unknown>>
    if (Object.hasOwn(body, inner)) throw badUserInput(`${inner} is given by the path`, inner)
    values[arg.name] = { ...body, [inner]: value }
  }
}

/** One more than the page, to know whether another follows. A value of the wrong type is left to the schema. */
function firstOf(given: unknown): unknown {
  if (given === undefined) return DEFAULT_PAGE + 1
  if (typeof given !== 'number' || !Number.isInteger(given)) return given
  if (given < 1 || given > MAX_PAGE) throw badUserInput(`first must be between 1 and ${MAX_PAGE}`, 'first')
  return given + 1
}
