import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, Suspense } from 'react'
import { useMay } from '../api/use-account.ts'
import { Loading } from '../ui/loaded.tsx'
import { FormDialog } from './form-dialog.tsx'

const TryRefundForm = lazy(async () => ({ default: (await import('./try-refund-form.tsx')).TryRefundForm }))

/** Refunds and disputes of the sandbox payment of a credit, to see their effects. */
export function TryCreditRefund({ appId, creditId }: { appId: string; creditId: string }) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('reverseSandboxCredit')}
        aria-label={`Simulate refund or dispute of ${creditId}`}
      >
        Simulate refund
      </Button>
      <FormDialog opened={opened} onClose={close} title="Simulate refund or dispute" ta="left">
        <Suspense fallback={<Loading />}>
          <TryRefundForm appId={appId} paidFor={{ creditId }} />
        </Suspense>
      </FormDialog>
    </>
  )
}
