import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { Note } from '../ui/note.tsx'

const WARNINGS = graphql(`
  query SandboxWarning($appId: String!) {
    providerAccounts(appId: $appId) { provider warning }
  }
`)

/** Above everything about billing: while the sandbox is on beside Stripe, links can be "paid" for free. */
export function SandboxWarning({ appId }: { appId: string }) {
  const { data } = useAsk(WARNINGS, { appId })
  const warning = data?.providerAccounts.find((account) => account.warning !== null)?.warning
  return warning ? (
    <Note tone="warn" role="alert">
      {warning}
    </Note>
  ) : null
}
