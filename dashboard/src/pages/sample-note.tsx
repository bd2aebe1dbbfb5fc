import { Button, Group, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useApp, useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Note } from '../ui/note.tsx'

const REMOVE = graphql(`
  mutation RemoveSample($appId: String!) {
    removeSample(appId: $appId) { features packages users kept }
  }
`)

/** While the sample is loaded: what it is, and how to remove it. */
export function SampleNote({ appId }: { appId: string }) {
  const app = useApp()
  const may = useMay()
  const remove = useChange(REMOVE, {
    said: ({ removeSample }) =>
      removeSample?.kept.length
        ? `The sample is gone, except for what you have come to use: ${removeSample.kept.join(', ')}.`
        : 'The sample is gone.',
  })
  if (!app?.sampleLoaded) return null
  return (
    <Note tone="accent" title="You are looking at a sample">
      <FormAlert error={remove.error} />
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          Features, plans, an add-on and 200 users with a few months of usage. Your own things stay when you
          remove it.
        </Text>
        <Button
          variant="default"
          size="xs"
          loading={remove.isPending}
          disabled={!may('removeSample')}
          onClick={() => remove.mutate({ appId })}
        >
          Remove the sample
        </Button>
      </Group>
    </Note>
  )
}
