import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { StartError } from '../../domain/errors.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32
/** Prefix of a sealed value, followed by its key's id. Unsealed secrets never start with it. */
const MARK = Buffer.from('sealed1:')

interface MasterKey {
  id: string
  key: Buffer
}

/** A sealed secret that no configured key opens. */
export class UnsealError extends Error {
  readonly keyId: string
  /** false: a key with this id is configured, but it is not the one that sealed the secret */
  readonly missing: boolean
  constructor(keyId: string, missing: boolean) {
    super(
      `encrypted with the master key ${keyId}, which ${missing ? 'is not configured' : 'does not decrypt it'}`,
    )
    this.keyId = keyId
    this.missing = missing
  }
}

/** The master keys: the first seals, all of them open. Without any, secrets are stored unsealed. */
export class Keyring {
  readonly #keys: readonly MasterKey[]

  constructor(keys: readonly MasterKey[]) {
    this.#keys = keys
  }

  get isEmpty(): boolean {
    return this.#keys.length === 0
  }

  /** `context` names where the secret is stored; a copy stored elsewhere cannot be decrypted. */
  seal(context: string, secret: Buffer): Buffer {
    const [first] = this.#keys
    if (!first) return secret
    const id = Buffer.from(first.id)
    return Buffer.concat([MARK, Buffer.of(id.length), id, encrypt(first.key, context, secret)])
  }

  open(context: string, kept: Buffer): Buffer {
    const sealed = parse(kept)
    if (!sealed) return kept
    const known = this.#keys.find(({ id }) => id === sealed.keyId)
    if (!known) throw new UnsealError(sealed.keyId, true)
    try {
      return decrypt(known.key, context, sealed.content)
    } catch {
      throw new UnsealError(sealed.keyId, false)
    }
  }

  /** Whether this value is stored as it would be written now. */
  isCurrent(kept: Buffer): boolean {
    return (parse(kept)?.keyId ?? null) === (this.#keys[0]?.id ?? null)
  }
}

function parse(kept: Buffer): { keyId: string; content: Buffer } | null {
  if (!kept.subarray(0, MARK.length).equals(MARK)) return null
  const from = MARK.length + 1
  const to = from + (kept[MARK.length] ?? 0)
  return { keyId: kept.toString('utf8', from, to), content: kept.subarray(to) }
}

/** AES-256-GCM. */
export function encrypt(key: Buffer, context: string, secret: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const content = Buffer.concat([cipher.update(secret), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), content])
}

export function decrypt(key: Buffer, context: string, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context)).setAuthTag(tag)
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

const FORMAT =
  '32 bytes in hex or base64 (openssl rand -base64 32), or several keys as id:key separated by commas or line breaks, with the key to encrypt with first'

/** Parses the keys of a setting or file; errors name the `source`, never the key. */
export function parseMasterKeys(text: string, source: string): MasterKey[] {
  const keys = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '' && !entry.startsWith('#'))
    .map((entry) => {
      const [, id, encoded = ''] = /^(?:([^:]*):)?(.*)$/.exec(entry) ?? []
      const key = bytesOf(encoded)
      if (!key || (id !== undefined && !/^[\w.-]{1,32}$/.test(id))) {
        throw new StartError(
          `${source} must be ${FORMAT}; an id has up to 32 letters, digits, dots and dashes.`,
        )
      }
      return { id: id ?? createHash('sha256').update(key).digest('hex').slice(0, 8), key }
    })
  if (keys.length === 0) throw new StartError(`${source} contains no key; it must be ${FORMAT}.`)
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new StartError(`${source} contains two keys with the same id; ids must be unique.`)
  }
  return keys
}

function bytesOf(encoded: string): Buffer | null {
  if (/^[0-9a-fA-F]{64}$/.test(encoded)) return Buffer.from(encoded, 'hex')
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(encoded) ? Buffer.from(encoded, 'base64') : null
  return bytes?.length === KEY_BYTES ? bytes : null
}
