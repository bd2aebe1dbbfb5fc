import { Button, Group, List, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { SkeletonLines } from '../ui/skeletons.tsx'

const DELETION = graphql(`
  query UserDeletion($appId: String!, $id: String!) {
    userDeletion(appId: $appId, id: $id) {
      liveSubscriptions paidSubscriptions openLinks pastSubscriptions counters
    }
  }
`)
const DELETE = graphql(`
  mutation DeleteUser($appId: String!, $id: String!) {
    deleteUser(appId: $appId, id: $id) { id }
  }
`)
type Deletion = NonNullable<ResultOf<typeof DELETION>['userDeletion']>

interface DeleteUserProps {
  appId: string
  id: string
  onDeleted: () => unknown
}

/** Deletes a user for good, once their id has been typed. */
export function DeleteUser({ appId, id, onDeleted }: DeleteUserProps) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  return (
    <>
      <Button variant="default" onClick={open} disabled={!may('deleteUser')}>
        Delete the user
      </Button>
      <Dialog opened={opened} onClose={close} title={`Delete ${id} permanently`}>
        <Confirmation appId={appId} id={id} onDeleted={onDeleted} onClose={close} />
      </Dialog>
    </>
  )
}

function Confirmation({ appId, id, onDeleted, onClose }: DeleteUserProps & { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const asked = useAsk(DELETION, { appId, id })
  const remove = useChange(DELETE, { done: onDeleted, said: `${id} deleted.` })
  return (
    <Stack>
      <FormAlert error={remove.error} />
      <Loaded of={asked} skeleton={<SkeletonLines />}>
        {({ userDeletion }) => userDeletion && <Effects {...userDeletion} />}
      </Loaded>
      <Text size="sm" fw={600}>
        This cannot be undone.
      </Text>
      <TextInput
        label="Type the user's id to confirm"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
      />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button
          color="red.9"
          disabled={typed !== id || !asked.data}
          loading={remove.isPending}
          onClick={() => remove.mutate({ appId, id })}
        >
          Delete permanently
        </Button>
      </Group>
    </Stack>
  )
}

function Effects({ liveSubscriptions, paidSubscriptions, openLinks, pastSubscriptions, counters }: Deletion) {
  return (
    <List size="sm" spacing="xxs">
      <List.Item>
        {many(liveSubscriptions, 'live subscription')} {liveSubscriptions === 1 ? 'ends' : 'end'} now
        {paidSubscriptions > 0 &&
          `, and ${many(paidSubscriptions, 'paid one')} at the billing provider first`}
        .
      </List.Item>
      <List.Item>{many(openLinks, 'open payment link')} can no longer be paid.</List.Item>
      <List.Item>
        Name, email, metadata and ids are erased everywhere, with{' '}
        {many(pastSubscriptions, 'past subscription')}, in the audit log and in imports too.
      </List.Item>
      <List.Item>{many(counters, 'sum')} are kept without the user.</List.Item>
    </List>
  )
}

const many = (count: number, what: string): string => `${number(count)} ${what}${count === 1 ? '' : 's'}`
