import { quote, subscriptionLinkError } from '../domain/errors.ts'
import type { BillingProvider } from './provider.ts'

/** The provider of an app that has set up no billing: it has no templates, so every link is refused. */
export const noBilling: BillingProvider = {
  async createLink({ templateId }) {
    throw subscriptionLinkError(
      `There is no billing template ${quote(templateId)} in this app: create one, with a price, in the dashboard`,
    )
  },
}
