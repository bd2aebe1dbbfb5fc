import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { PasswordCost } from '../../domain/password.ts'

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const SALT_BYTES = 16
const HASH_BYTES = 64

/** As OWASP recommends for scrypt: 128 MiB per guess. */
export const PASSWORD_COST: PasswordCost = { ln: 17, r: 8, p: 1 }

interface StoredHash {
  cost: PasswordCost
  salt: Buffer
  hash: Buffer
}

/** A PHC string, which contains the cost. */
export async function hashPassword(password: string, cost: PasswordCost): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derived(password, salt, cost)
  const { ln, r, p } = cost
  return `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(hash)}`
}

/** Takes as long for an unknown account, at the cost of new hashes. */
export async function isPassword(
  password: string,
  stored: string | undefined,
  cost: PasswordCost,
): Promise<boolean> {
  const { salt, hash, cost: paid } = stored === undefined ? nobodys(cost) : read(stored)
  return timingSafeEqual(await derived(password, salt, paid), hash)
}

/** Whether a guess against this hash costs less than against a new one. */
export function isCheap(stored: string, cost: PasswordCost): boolean {
  const { cost: paid } = read(stored)
  return paid.ln < cost.ln || paid.r < cost.r || paid.p < cost.p
}

function derived(password: string, salt: Buffer, { ln, r, p }: PasswordCost): Promise<Buffer> {
  const N = 2 ** ln
  // scrypt needs a little more than 128 * N * r bytes; Node allows 32 MiB by default.
  return derive(password, salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r })
}

const nobodys = (cost: PasswordCost): StoredHash => ({
  cost,
  salt: Buffer.alloc(SALT_BYTES),
  hash: Buffer.alloc(HASH_BYTES),
})

function read(stored: string): StoredHash {
  const phc = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored)
  if (!phc) throw new Error('a stored password hash has an unknown form')
  const [, ln, r, p, salt = '', hash = ''] = phc
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
