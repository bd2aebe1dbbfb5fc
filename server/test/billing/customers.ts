import { expect } from 'vitest'
import { jobsDone } from './jobs-done.ts'
import type { SandboxShop } from './sandbox-shop.ts'

interface Reversal {
  paymentRef: string
  amount: number
  refunded: number
  dispute: { state: string } | null
}

/** Everybody who buys is a user of their own, in a shop that the tests share. */
export class Customers {
  readonly #shop: SandboxShop
  readonly #databaseUrl: string
  #made = 0
  /** the newest */
  user = ''

  constructor(shop: SandboxShop, databaseUrl: string) {
    this.#shop = shop
    this.#databaseUrl = databaseUrl
  }

  async next(): Promise<void> {
    this.user = `user-${++this.#made}`
    await this.#shop.admin.call('createUser', { input: { id: this.user } })
  }

  /** What becomes of access after a refund. */
  async access(access: 'KEEP' | 'END'): Promise<void> {
    const setAccessAfterRefund = await this.#shop.dashboard.call(
      'setAccessAfterRefund { accessAfterRefund }',
      { access },
    )
    expect(setAccessAfterRefund).toEqual({ accessAfterRefund: access })
    await jobsDone(this.#databaseUrl)
  }

  /** What was taken back, on each of the user's subscriptions, oldest first. */
  async reversals(): Promise<Reversal[][]> {
    const subscriptions = await this.#shop.admin.call(
      'subscriptions { reversals { paymentRef amount refunded dispute { state } } }',
      { userId: this.user },
    )
    return subscriptions.map(({ reversals }: { reversals: Reversal[] }) => reversals)
  }
}
