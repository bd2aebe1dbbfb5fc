import { Group, Text } from '@mantine/core'
import { Tag, type Tone } from '../ui/tag.tsx'
import { dateOf } from '../ui/when.tsx'

interface Reversal {
  paymentRef: string
  amount: number
  refunded: number
  amountText: string
  refundedText: string
  refundedAt: string | null
  dispute: { state: keyof typeof DISPUTES; reason: string | null; openedAt: string } | null
}

const DISPUTES = {
  INQUIRY: { tone: 'warn', text: 'Bank inquiry' },
  OPEN: { tone: 'bad', text: 'Disputed' },
  WON: { tone: 'plain', text: 'Dispute won' },
  LOST: { tone: 'bad', text: 'Dispute lost' },
  CLOSED: { tone: 'plain', text: 'Inquiry closed' },
} satisfies Record<string, { tone: Tone; text: string }>

/** More than these are a story for the provider's own pages. */
const SHOWN = 3

/** What was refunded and disputed of the payments for a subscription. */
export function ReversalTags({ reversals }: { reversals: readonly Reversal[] }) {
  if (reversals.length === 0) return null
  return (
    <Group gap="xxs" mt="xxs">
      {reversals.slice(0, SHOWN).map((payment) => (
        <PaymentTags key={payment.paymentRef} payment={payment} />
      ))}
      {reversals.length > SHOWN && (
        <Text size="xs" c="dimmed">
          and {reversals.length - SHOWN} more
        </Text>
      )}
    </Group>
  )
}

function PaymentTags({ payment }: { payment: Reversal }) {
  const { amount, amountText, refunded, refundedText, refundedAt, dispute, paymentRef } = payment
  const title = `Payment ${paymentRef}`
  const { tone, text } = DISPUTES[dispute?.state ?? 'CLOSED']
  return (
    <>
      {refundedAt && (
        <DatedTag tone="warn" title={title} at={refundedAt}>
          {refunded >= amount ? `Refunded ${amountText}` : `Refunded ${refundedText} of ${amountText}`}
        </DatedTag>
      )}
      {dispute && (
        <DatedTag tone={tone} title={title} at={dispute.openedAt}>
          {`${text}: ${amountText}`}
        </DatedTag>
      )}
    </>
  )
}

function DatedTag({ at, children, ...tag }: { tone: Tone; title: string; at: string; children: string }) {
  return (
    <Group gap="xxs">
      <Tag {...tag} wraps>
        {children}
      </Tag>
      <Text span size="xs" c="dimmed">
        {dateOf(at)}
      </Text>
    </Group>
  )
}
