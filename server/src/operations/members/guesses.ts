import { createHash } from 'node:crypto'
import { rateLimited } from '../../domain/errors.ts'
import {
  SIGN_IN_ACCOUNT_EVERY_MS,
  SIGN_IN_ACCOUNT_TRIES,
  SIGN_IN_ADDRESS_EVERY_MS,
  SIGN_IN_ADDRESS_TRIES,
  SIGN_IN_EVERY_MS,
  SIGN_IN_TRIES,
} from '../../domain/limits.ts'
import { forgetTries, giveTryBack, type Pace, takeTry } from '../../store/members/sign-in-pace.ts'
import type { Service } from '../call/service.ts'

const ONE: Pace = { tries: SIGN_IN_TRIES, everyMs: SIGN_IN_EVERY_MS }
const ADDRESS: Pace = { tries: SIGN_IN_ADDRESS_TRIES, everyMs: SIGN_IN_ADDRESS_EVERY_MS }
const ACCOUNT: Pace = { tries: SIGN_IN_ACCOUNT_TRIES, everyMs: SIGN_IN_ACCOUNT_EVERY_MS }

interface Source {
  hash: Buffer
  pace: Pace
  /** whether a correct password resets it, or only returns this attempt */
  resetOnSuccess: boolean
}

/**
 * The sources whose attempts are limited together. A browser that has signed in to the account before is counted
 * separately, so that other people's guesses do not lock its member out. Any other is counted by address and account,
 * by address, and by account, since many addresses may guess together.
 */
export function guessSources(account: string, address: string, device: string | null): Source[] {
  if (device !== null) return [{ hash: hashOf('device', device), pace: ONE, resetOnSuccess: true }]
  return [
    { hash: hashOf('address and account', address, account), pace: ONE, resetOnSuccess: true },
    { hash: hashOf('address', address), pace: ADDRESS, resetOnSuccess: false },
    { hash: hashOf('account', account), pace: ACCOUNT, resetOnSuccess: false },
  ]
}

/** For a member who enters the current password to set a new one: the member is the source. */
export const sourcesOfMember = (id: number): Source[] => [
  { hash: hashOf('member', String(id)), pace: ONE, resetOnSuccess: true },
]

/**
 * Runs one password check. The attempt is counted beforehand, so that concurrent ones count too, and returned if the
 * password was right or nothing was compared.
 */
export async function guess(
  { pool, clock }: Pick<Service, 'pool' | 'clock'>,
  sources: Source[],
  compare: () => Promise<boolean>,
): Promise<boolean> {
  const taken: Source[] = []
  const giveBack = async () => {
    for (const { hash, pace } of taken) await giveTryBack(pool, hash, pace)
  }
  for (const source of sources) {
    const wait = await takeTry(pool, source.hash, clock(), source.pace)
    if (wait > 0) {
      await giveBack()
      const seconds = Math.ceil(wait / 1_000)
      throw rateLimited(`Too many failed sign-in attempts; retry in ${seconds} s.`, seconds)
    }
    taken.push(source)
  }
  let right: boolean
  try {
    right = await compare()
  } catch (error) {
    await giveBack()
    throw error
  }
  if (right) {
    for (const { hash, pace, resetOnSuccess } of taken) {
      await (resetOnSuccess ? forgetTries(pool, hash) : giveTryBack(pool, hash, pace))
    }
  }
  return right
}

/** Addresses and accounts are hashed: people also type passwords into the email field. */
const hashOf = (...parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()
