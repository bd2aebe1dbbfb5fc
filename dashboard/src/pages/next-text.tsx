import { Text } from '@mantine/core'
import { When } from '../ui/when.tsx'

const NEXT = { TRIAL_END: 'Trial ends', END: 'Ends', RENEWAL: 'Renews' }

interface NextTextProps {
  of: {
    cancelledAt: string | null
    billing: { status: string } | null
    nextEvent: {
      kind: 'TRIAL_END' | 'CHANGE' | 'END' | 'RENEWAL'
      at: string
      packageName: string | null
    } | null
  }
}

/** What happens to a subscription next: "Switches to Starter on Dec 18, 2026". */
export function NextText({ of: { cancelledAt, billing, nextEvent } }: NextTextProps) {
  if (cancelledAt) {
    return (
      <Text span size="sm" c="dimmed">
        Ended <When at={cancelledAt} />
      </Text>
    )
  }
  if (!nextEvent) return '–'
  const { kind, at, packageName } = nextEvent
  if (kind === 'CHANGE') {
    return (
      <>
        Switches to {packageName} on <When at={at} />
      </>
    )
  }
  return (
    <>
      {NEXT[kind]} <When at={at} />
      {kind === 'END' && billing?.status === 'past_due' && ' unless paid'}
      {packageName && `, then ${packageName}`}
    </>
  )
}
