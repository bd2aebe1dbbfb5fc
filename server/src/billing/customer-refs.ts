/** Prefix of the sandbox's customer ids. */
export const SANDBOX_CUSTOMERS = 'cus_sandbox_'

export const isSandboxCustomer = (ref: string): boolean => ref.startsWith(SANDBOX_CUSTOMERS)
