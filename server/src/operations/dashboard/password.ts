import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { badUserInput } from '../../domain/errors.ts'
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from '../../domain/limits.ts'

const derive = promisify<string, Buffer, number, Buffer>(scrypt)
const NOBODY = `${'00'.repeat(16)}:${'00'.repeat(64)}`

export function checkPassword(password: string): void {
  if (password.length < MIN_PASSWORD_CHARACTERS || password.length > MAX_PASSWORD_CHARACTERS) {
    throw badUserInput(
      `password must be ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters long`,
      'password',
    )
  }
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('hex')}:${(await derive(password, salt, 64)).toString('hex')}`
}

/** Takes as long where nobody's password is compared. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [salt = '', hash = ''] = (stored ?? NOBODY).split(':')
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'hex'), 64), Buffer.from(hash, 'hex'))
}
