import { badUserInput } from '../domain/errors.ts'
import { type Call, mutate } from './call.ts'
import { foundUser } from './found.ts'

interface LinkInput {
  userId: string | null
  templateId: string
  successUrl: string
  cancelUrl: string
}

export async function generateSubscriptionLink(call: Call, input: LinkInput): Promise<{ url: string }> {
  checkRedirect('successUrl', input.successUrl)
  checkRedirect('cancelUrl', input.cancelUrl)
  return mutate(call, async (tx) => {
    const user = input.userId === null ? null : await foundUser(tx, call.appId, input.userId)
    return call.service.billing.createLink({ ...input, appId: call.appId, user })
  })
}

/** The payer's browser is sent there: only where a browser may go, and never to a script. */
function checkRedirect(field: string, url: string): void {
  const parsed = /^https?:\/\//i.test(url) && URL.canParse(url)
  if (!parsed) throw badUserInput(`${field} must be an absolute http or https URL`)
}
