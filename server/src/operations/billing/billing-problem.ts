/** Why a payment cannot be granted: someone has to fix something, then replay the notice. */
export class BillingProblem extends Error {
  /** the provider's id of the payment */
  readonly ref: string

  constructor(ref: string, message: string) {
    super(message)
    this.ref = ref
  }
}
