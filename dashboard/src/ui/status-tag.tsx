import { Tag } from './tag.tsx'

interface Subscription {
  status: 'ACTIVE' | 'CANCELLED'
  /** another plan took its place when it ended */
  replaced: boolean
  billing: { status: string } | null
  nextEvent: { kind: 'TRIAL_END' | 'CHANGE' | 'END' | 'RENEWAL' } | null
}

/** The status of a subscription, in the same words everywhere. */
export function StatusTag({ of: { status, replaced, billing, nextEvent } }: { of: Subscription }) {
  if (status === 'CANCELLED') return <Tag>{replaced ? 'Changed' : 'Cancelled'}</Tag>
  if (billing?.status === 'past_due') return <Tag tone="bad">Past due</Tag>
  switch (nextEvent?.kind) {
    case 'TRIAL_END':
      return <Tag tone="accent">Trial</Tag>
    case 'CHANGE':
      return <Tag tone="accent">Change scheduled</Tag>
    case 'END':
      return <Tag tone="warn">Ending</Tag>
    default:
      return <Tag tone="good">Active</Tag>
  }
}
