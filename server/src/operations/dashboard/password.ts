import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify<string, Buffer, number, Buffer>(scrypt)
const NOBODY = `${'00'.repeat(16)}:${'00'.repeat(64)}`

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('hex')}:${(await derive(password, salt, 64)).toString('hex')}`
}

/** Takes as long where nobody's password is compared. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [salt = '', hash = ''] = (stored ?? NOBODY).split(':')
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'hex'), 64), Buffer.from(hash, 'hex'))
}
