import { Button, Stack, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { number } from '../ui/number.ts'
import { FormActions } from './form-actions.tsx'

const VOID = graphql(`
  mutation VoidCredit($appId: String!, $id: String!, $reason: String) {
    voidCredit(appId: $appId, id: $id, reason: $reason) { id }
  }
`)

interface VoidCreditProps {
  appId: string
  credit: { id: string; reserved: number }
  left: number
}

export function VoidCredit({ appId, credit: { id, reserved }, left }: VoidCreditProps) {
  const [opened, { open, close }] = useDisclosure()
  const [reason, setReason] = useState('')
  const may = useMay()
  const change = useChange(VOID, { done: close, said: 'Credit voided.' })
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('voidCredit')}
        aria-label={`Void the credit ${id}`}
      >
        Void
      </Button>
      <Dialog opened={opened} onClose={close} title="Void the credit" ta="left">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            change.mutate({ appId, id, reason: reason.trim() === '' ? null : reason })
          }}
        >
          <Stack>
            <FormAlert error={change.error} />
            <Text size="sm">
              The {number(left)} units left can no longer be used. A voided credit cannot be restored.
              {reserved > 0 && ` Open reservations keep the ${number(reserved)} units that they hold of it.`}
            </Text>
            <Textarea
              label="Reason"
              description="A note for your team. Leave empty to keep the current one"
              autosize
              maxLength={1024}
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
            <FormActions submit="Void the credit" danger busy={change.isPending} onCancel={close} />
          </Stack>
        </form>
      </Dialog>
    </>
  )
}
