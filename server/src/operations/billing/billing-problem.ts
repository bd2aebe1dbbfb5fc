/** The reason why a payment cannot be granted. Someone has to fix it and then replay the event. */
export class BillingProblem extends Error {
  /** the provider's id of the payment */
  readonly ref: string

  constructor(ref: string, message: string) {
    super(message)
    this.ref = ref
  }
}
