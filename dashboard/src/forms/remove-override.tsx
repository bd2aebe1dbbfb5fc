import { Button, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'

const REMOVE = graphql(`
  mutation RemoveOverride($appId: String!, $userId: String!, $featureId: String!) {
    removeOverride(appId: $appId, userId: $userId, featureId: $featureId) { mode }
  }
`)

interface RemoveOverrideProps {
  appId: string
  userId: string
  featureId: string
  /** of the feature */
  name: string
}

export function RemoveOverride({ name, ...variables }: RemoveOverrideProps) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  const remove = useChange(REMOVE, { done: close, said: 'Override removed. The packages apply again.' })
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('removeOverride')}
        aria-label={`Remove the override of ${name}`}
      >
        Remove
      </Button>
      <Modal opened={opened} onClose={close} title={`Remove the override of ${name}`} ta="left">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            remove.mutate(variables)
          }}
        >
          <Stack>
            <FormAlert error={remove.error} />
            <Text size="sm">From now on the user's packages decide. Usage so far stays counted.</Text>
            <FormActions submit="Remove the override" danger busy={remove.isPending} onCancel={close} />
          </Stack>
        </form>
      </Modal>
    </>
  )
}
