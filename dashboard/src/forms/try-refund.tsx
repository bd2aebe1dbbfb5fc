import { Loader } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Loading } from '../ui/loaded.tsx'
import { FormDialog } from './form-dialog.tsx'

const TryRefundForm = lazy(async () => ({ default: (await import('./try-refund-form.tsx')).TryRefundForm }))

interface TryRefundProps {
  opened: boolean
  onClose: () => void
  appId: string
  subscription: { id: string; userId: string; userName: string | null; package: { name: string } }
}

/** Refunds and disputes of sandbox payments, to see their effects. */
export function TryRefund({ opened, onClose, appId, subscription }: TryRefundProps) {
  const { id, userId, userName, package: p } = subscription
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={`Payments for ${p.name} of ${userName ?? userId}`}
      ta="left"
    >
      <Suspense
        fallback={
          <Loading>
            <Loader />
          </Loading>
        }
      >
        <TryRefundForm appId={appId} paidFor={{ subscriptionId: id }} />
      </Suspense>
    </FormDialog>
  )
}
