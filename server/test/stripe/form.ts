import type Stripe from 'stripe'
import { invalid, missingParameter, unknownParameter } from './refusals.ts'

/**
 * A form-encoded body with nested brackets, as a tree. It remembers what was read of it: what nobody reads is refused
 * rather than ignored, so that no caller relies on a parameter that the stand-in does not act upon.
 */
export class Form {
  readonly #path: string
  readonly #entries = new Map<string, string | Form>()
  readonly #read = new Set<string>()

  constructor(path = '') {
    this.#path = path
  }

  static parse(encoded: string): Form {
    const form = new Form()
    for (const [key, value] of new URLSearchParams(encoded)) {
      const [first = '', ...brackets] = key.split('[')
      form.#put([first, ...brackets.map((name) => name.replace(/\]$/, ''))], value)
    }
    return form
  }

  #put([name = '', ...rest]: string[], value: string): void {
    const key = name === '' ? String(this.#entries.size) : name
    if (rest.length === 0) {
      this.#entries.set(key, value)
      return
    }
    const found = this.#entries.get(key)
    const child = found instanceof Form ? found : new Form(this.path(key))
    this.#entries.set(key, child)
    child.#put(rest, value)
  }

  /** What an error calls this parameter. */
  path(name: string): string {
    return this.#path === '' ? name : `${this.#path}[${name}]`
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  text(name: string): string | undefined {
    this.#read.add(name)
    const value = this.#entries.get(name)
    if (value instanceof Form) throw invalid(`Invalid string: ${name}`, this.path(name))
    return value
  }

  required(name: string): string {
    const value = this.text(name)
    if (!value) throw missingParameter(this.path(name))
    return value
  }

  /** A value that may be taken away by sending it empty. */
  clearable(name: string, before: string | null): string | null {
    const value = this.text(name)
    return value === undefined ? before : value || null
  }

  integer(name: string): number | undefined {
    const value = this.text(name)
    if (value === undefined || value === '') return undefined
    if (!/^-?\d+$/.test(value))
      throw invalid(`Invalid integer: ${value}`, this.path(name), 'parameter_invalid_integer')
    return Number(value)
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (value !== 'true' && value !== 'false') throw invalid(`Invalid boolean: ${value}`, this.path(name))
    return value === 'true'
  }

  /** One of these words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const found = words.find((word) => word === value)
    if (!found) throw invalid(`Invalid ${name}: must be one of ${words.join(', ')}`, this.path(name))
    return found
  }

  form(name: string): Form | undefined {
    this.#read.add(name)
    const value = this.#entries.get(name)
    if (typeof value === 'string' && value !== '') throw invalid(`Invalid object`, this.path(name))
    return value instanceof Form ? value : undefined
  }

  /** The elements of a list of objects. */
  forms(name: string): Form[] {
    const list = this.form(name)
    return list ? list.names.flatMap((at) => list.form(at) ?? []) : []
  }

  texts(name: string): string[] {
    const list = this.form(name)
    return list ? list.names.map((at) => list.required(at)) : []
  }

  /** What was there, with the keys that are sent; an empty value takes its key away, an empty whole takes all. */
  metadata(before: Stripe.Metadata = {}): Stripe.Metadata {
    if (this.#entries.get('metadata') === '') {
      this.#read.add('metadata')
      return {}
    }
    const sent = this.form('metadata')
    const after = { ...before }
    for (const key of sent?.names ?? []) {
      const value = sent?.text(key) ?? ''
      if (key.length > 40) throw invalid(`Metadata keys can be up to 40 characters long`, `metadata[${key}]`)
      if (value.length > 500)
        throw invalid(`Metadata values can be up to 500 characters long`, `metadata[${key}]`)
      if (value === '') delete after[key]
      else after[key] = value
    }
    if (Object.keys(after).length > 50) throw invalid('Metadata can have up to 50 keys', 'metadata')
    return after
  }

  /** Parameters that are taken and change nothing that the stand-in models. */
  without(...names: string[]): void {
    for (const name of names) {
      this.#read.add(name)
      const value = this.#entries.get(name)
      if (value instanceof Form) value.without(...value.names)
    }
  }

  refuseUnread(): void {
    for (const [name, value] of this.#entries) {
      if (!this.#read.has(name)) throw unknownParameter(this.path(name))
      if (value instanceof Form) value.refuseUnread()
    }
  }
}
