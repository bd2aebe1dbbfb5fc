import { Button, Group, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { units } from '../ui/number.ts'

const COUNT = graphql(`
  mutation CountSample($appId: String!) {
    removeSample(appId: $appId, dryRun: true) { features packages prices templates users subscriptions payments kept }
  }
`)
const REMOVE = graphql(`
  mutation RemoveSample($appId: String!) {
    removeSample(appId: $appId) { kept }
  }
`)

/** Says what goes before it goes. */
export function RemoveSample({ appId, onDone }: { appId: string; onDone: () => void }) {
  const count = useChange(COUNT)
  const remove = useChange(REMOVE, {
    said: ({ removeSample }) =>
      removeSample?.kept.length
        ? `Sample deleted, except for objects that you use: ${removeSample.kept.join(', ')}.`
        : 'Sample deleted.',
    done: onDone,
  })
  const { mutate } = count
  useEffect(() => mutate({ appId }), [mutate, appId])
  const found = count.data?.removeSample
  return (
    <Stack>
      <FormAlert error={count.error ?? remove.error} />
      {found ? (
        <Text size="sm">
          This deletes {units(found.users, 'user', 'users')} with{' '}
          {units(found.subscriptions, 'subscription', 'subscriptions')},{' '}
          {units(found.payments, 'payment', 'payments')} and all their usage,{' '}
          {units(found.features, 'feature', 'features')}, {units(found.packages, 'package', 'packages')},{' '}
          {units(found.prices, 'price', 'prices')} and {units(found.templates, 'template', 'templates')}. It
          cannot be undone; you can load the sample again.
        </Text>
      ) : (
        !count.error && <Text size="sm">Counting…</Text>
      )}
      <Text size="sm">
        {found?.kept.length
          ? `Kept because your own objects use them: ${found.kept.join(', ')}.`
          : 'Everything else is kept.'}
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onDone} data-autofocus>
          Cancel
        </Button>
        <Button
          color="red.9"
          disabled={!found}
          loading={remove.isPending}
          onClick={() => remove.mutate({ appId })}
        >
          Delete the sample
        </Button>
      </Group>
    </Stack>
  )
}
