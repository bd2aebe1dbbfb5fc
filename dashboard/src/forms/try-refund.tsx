import { Button, Loader } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense } from 'react'
import { useMay } from '../api/use-account.ts'
import { FormDialog } from './form-dialog.tsx'

const TryRefundForm = lazy(async () => ({ default: (await import('./try-refund-form.tsx')).TryRefundForm }))

interface TryRefundProps {
  appId: string
  subscription: { id: string; userId: string; userName: string | null; package: { name: string } }
}

/** What was paid in the sandbox may be refunded and disputed, to see what follows. */
export function TryRefund({ appId, subscription }: TryRefundProps) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  const { id, userId, userName, package: p } = subscription
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('reverseSandboxPayment')}
        aria-label={`Refund or dispute ${p.name} of ${userId}`}
      >
        Refund
      </Button>
      <FormDialog
        opened={opened}
        onClose={close}
        title={`Payments for ${p.name} of ${userName ?? userId}`}
        ta="left"
      >
        <Suspense fallback={<Loader />}>
          <TryRefundForm appId={appId} subscriptionId={id} />
        </Suspense>
      </FormDialog>
    </>
  )
}
