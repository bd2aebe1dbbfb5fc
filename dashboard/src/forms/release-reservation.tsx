import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'

const RELEASE = graphql(`
  mutation ReleaseReservation($appId: String!, $id: String!) {
    releaseReservation(appId: $appId, id: $id) { id }
  }
`)

interface ReleaseReservationProps {
  appId: string
  id: string
  /** how many units it holds, as text */
  held: string
}

export function ReleaseReservation({ appId, id, held }: ReleaseReservationProps) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  const release = useChange(RELEASE, { done: close, said: 'Reservation released.' })
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('releaseReservation')}
        aria-label={`Release the reservation ${id}`}
      >
        Release
      </Button>
      <Dialog opened={opened} onClose={close} title="Release the reservation" ta="left">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            release.mutate({ appId, id })
          }}
        >
          <Stack>
            <FormAlert error={release.error} />
            <Text size="sm">
              The {held} it holds can be used again. If the work it was made for still runs, its usage can no
              longer be settled under this reservation.
            </Text>
            <FormActions submit="Release the reservation" danger busy={release.isPending} onCancel={close} />
          </Stack>
        </form>
      </Dialog>
    </>
  )
}
