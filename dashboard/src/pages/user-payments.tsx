import { Button, Group, Stack } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pager } from '../ui/pager.tsx'
import { PaymentTable } from '../ui/payment-table.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'

const PAYMENTS = graphql(`
  query UserPayments($appId: String!, $userId: String!, $after: String) {
    userPayments(appId: $appId, userId: $userId, after: $after) {
      next
      rows {
        ref provider state amount refunded currency decimals at refundedAt disputeState subscriptionId packageNames
        credit { id featureName units }
      }
    }
  }
`)

interface UserPaymentsProps {
  appId: string
  userId: string
  onSendLink: () => void
}

/** Payments of a user, newest first, with refunds. */
export function UserPayments({ appId, userId, onSendLink }: UserPaymentsProps) {
  const may = useMay()
  const { after } = useSearch({ from: '/inside/apps/$app/users/$id' })
  const asked = useAsk(PAYMENTS, { appId, userId, after: after ?? null }, { keepPrevious: true })
  const send = (
    <Button variant="default" onClick={onSendLink} disabled={!may('generateSubscriptionLink')}>
      Send payment link
    </Button>
  )
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={5} lines={1} rows={4} />}>
      {({ userPayments }) =>
        (userPayments?.rows ?? []).length === 0 && after === undefined ? (
          <Empty title="No payments yet" action={send}>
            Payments appear here once the user pays by a payment link.
          </Empty>
        ) : (
          <Stack gap="sm">
            <Group justify="flex-end">{send}</Group>
            <PaymentTable appId={appId} payments={userPayments?.rows ?? []} forUser />
            <Pager after={after} next={userPayments?.next} />
          </Stack>
        )
      }
    </Loaded>
  )
}
