import { Note } from '../ui/note.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

interface State {
  enabled: boolean
  disabledReason: 'GONE' | 'FAILING' | null
  failingSince: string | null
}

/** Whether an endpoint receives events. */
export function EndpointTag({ endpoint: { enabled, disabledReason, failingSince } }: { endpoint: State }) {
  if (!enabled) return disabledReason ? <Tag tone="bad">Disabled by Tollgate</Tag> : <Tag>Disabled</Tag>
  return failingSince ? <Tag tone="warn">Failing</Tag> : <Tag tone="good">Active</Tag>
}

/** Why nothing is delivered, and what to do about it. */
export function EndpointProblem({
  endpoint: { enabled, disabledReason, disabledAt, failingSince },
}: {
  endpoint: State & { disabledAt: string | null }
}) {
  if (!enabled && disabledReason && disabledAt) {
    const why =
      disabledReason === 'GONE'
        ? 'It answered 410 Gone, so Tollgate sends it no more events.'
        : 'Nothing was delivered to it for five days.'
    return (
      <Note tone="bad" title="Tollgate has disabled this endpoint">
        {why} Disabled <When at={disabledAt} time />. Fix the receiver, enable the endpoint and resend what
        failed.
      </Note>
    )
  }
  if (enabled && failingSince) {
    return (
      <Note tone="warn" title="Deliveries are failing">
        Nothing was delivered since <When at={failingSince} time />. After five days without a success,
        Tollgate disables the endpoint.
      </Note>
    )
  }
  return null
}
