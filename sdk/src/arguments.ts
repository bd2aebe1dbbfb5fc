import { DOCUMENTS, type Operation } from './documents.ts'
import { TollgateError } from './errors.ts'
import type { MutationOptions } from './options.ts'
import { isTimeout } from './within.ts'

/** The fields of each input, written as in a document. A test compares it with the service's schema. */
export const REQUIRED_FIELDS: Record<string, string> = {
  CreateFeatureInput: '$id: String! $name: String! $type: FeatureType!',
  CreatePackageInput: '$id: String! $name: String!',
  CreateUserInput: '$id: String!',
  CreditInput: '$userId: String! $featureId: String! $amount: SafeInt!',
  AutoRechargeInput:
    '$userId: String! $featureId: String! $below: SafeInt! $upTo: SafeInt! $priceId: String!',
  CapInput: '$userId: String! $featureId: String! $limit: SafeInt! $period: ResetPeriod!',
  ReservationInput: '$userId: String! $featureId: String! $amount: SafeInt!',
  OverrideInput: '$userId: String! $featureId: String! $mode: OverrideMode!',
  CreateWebhookEndpointInput: '$url: String!',
  CreateUsageEventInput: '$userId: String! $featureId: String! $delta: SafeInt!',
}

type Declaration = [name: string, type: string]

/** The service would refuse these too, but only after a request, and in terms of the document. */
export function checkArguments(operation: Operation, args: unknown): void {
  if (!isObject(args)) throw refused(null, `The arguments of ${operation} must be an object`, args)
  checkFields(declarationsOf(DOCUMENTS[operation]), args, '')
}

/** `options` may be left out. */
export function checkOptions(options: unknown): asserts options is MutationOptions | undefined {
  if (options === undefined || options === null) return
  if (!isObject(options)) throw refused(null, 'The options of a call must be an object', options)
  const { signal, timeout, retry, idempotencyKey } = options as { [Name in keyof MutationOptions]: unknown }
  if ((signal ?? undefined) !== undefined && typeof (signal as AbortSignal).addEventListener !== 'function')
    throw refused('signal', 'signal must be an AbortSignal', signal)
  if (timeout !== undefined && !isTimeout(timeout))
    throw refused('timeout', 'timeout must be a positive number of milliseconds', timeout)
  if (retry !== undefined && typeof retry !== 'function')
    throw refused('retry', 'retry must be a function', retry)
  if (idempotencyKey !== undefined && !isHeader(idempotencyKey))
    throw refused('idempotencyKey', 'idempotencyKey must be a valid HTTP header value', idempotencyKey)
}

/** Everything refused here is for the caller to fix. */
export function refused(field: string | null, rule: string, value: unknown): TollgateError {
  return new TollgateError(`${rule}, not ${kindOf(value)}`, { code: 'BAD_USER_INPUT', status: 400, field })
}

function isHeader(value: unknown): boolean {
  try {
    return typeof value === 'string' && new Headers({ value }) instanceof Headers
  } catch {
    return false
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const known = new Map<string, Declaration[]>()

/** A document says which variables it takes, and of which types. */
function declarationsOf(text: string): Declaration[] {
  const found =
    known.get(text) ??
    [...text.matchAll(/\$(\w+): ([\w[\]!]+)/g)].map(([, name = '', type = '']) => [name, type] as Declaration)
  known.set(text, found)
  return found
}

function checkFields(declarations: Declaration[], values: Record<string, unknown>, path: string): void {
  for (const [name, type] of declarations) checkValue(values[name], type, name, path + name)
}

function checkValue(value: unknown, type: string, field: string, path: string): void {
  if ((value === undefined || value === null) && !type.endsWith('!')) return
  const bare = type.replace(/!$/, '')
  const list = /^\[(.*)\]$/.exec(bare)?.[1]
  if (list !== undefined) {
    if (!Array.isArray(value)) throw refused(field, `${path} must be a list`, value)
    for (const [i, entry] of value.entries()) checkValue(entry, list, field, `${path}[${i}]`)
  } else if (bare.endsWith('Input')) {
    if (!isObject(value)) throw refused(field, `${path} must be an object`, value)
    checkFields(declarationsOf(REQUIRED_FIELDS[bare] ?? ''), value, `${path}.`)
  } else if (bare === 'Boolean') {
    if (typeof value !== 'boolean') throw refused(field, `${path} must be true or false`, value)
  } else if (bare === 'Int' || bare === 'SafeInt') {
    if (!Number.isSafeInteger(value)) throw refused(field, `${path} must be an integer`, value)
  } else if (typeof value !== 'string') throw refused(field, `${path} must be a string`, value)
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null || typeof value === 'number') return String(value)
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  return Array.isArray(value) ? 'a list' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}
