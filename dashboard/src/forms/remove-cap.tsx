import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { number } from '../ui/number.ts'
import { REMOVE_CAP, SET_CAP, type UserCap } from './cap-changes.ts'
import { FormActions } from './form-actions.tsx'

interface RemoveCapProps {
  appId: string
  userId: string
  cap: UserCap
  /** of the feature, with the cap */
  name: string
}

export function RemoveCap({ appId, userId, cap, name }: RemoveCapProps) {
  const { featureId, entity, period, limit, planLimit, used } = cap
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  const restore = useChange(SET_CAP, {
    said: planLimit === null ? 'Cap set again. It counts from 0.' : 'Cap set again, with its count.',
  })
  const remove = useChange(REMOVE_CAP, {
    done: close,
    said: planLimit === null ? 'Cap removed.' : 'Cap removed. The cap of the plan applies again.',
    undo: () => () => restore.mutate({ appId, input: { userId, featureId, entity, period, limit } }),
  })
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('removeCap')}
        aria-label={`Remove the cap ${name}`}
      >
        Remove
      </Button>
      <Dialog opened={opened} onClose={close} title={`Remove the cap ${name}`} ta="left">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            remove.mutate({ appId, userId, featureId, entity, period })
          }}
        >
          <Stack>
            <FormAlert error={remove.error} />
            <Text size="sm">
              {planLimit === null
                ? `Nothing else limits this usage per window. The count of ${number(used ?? 0)} is deleted: a cap that is set later counts from 0.`
                : `The cap of the plan, ${number(planLimit)}, applies immediately and keeps the count of ${number(used ?? 0)}.`}
            </Text>
            <FormActions submit="Remove the cap" danger busy={remove.isPending} onCancel={close} />
          </Stack>
        </form>
      </Dialog>
    </>
  )
}
