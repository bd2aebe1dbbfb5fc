/** Prefix of the sandbox's customer ids. No other provider knows them. */
export const SANDBOX_CUSTOMERS = 'cus_sandbox_'

export const isSandboxCustomer = (ref: string): boolean => ref.startsWith(SANDBOX_CUSTOMERS)
