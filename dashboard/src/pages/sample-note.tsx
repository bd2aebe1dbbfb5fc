import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useApp, useMay } from '../api/use-account.ts'
import { RemoveSample } from '../forms/remove-sample.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Note } from '../ui/note.tsx'

/** While the sample is loaded: what it is, and how to remove it. */
export function SampleNote({ appId }: { appId: string }) {
  const app = useApp()
  const may = useMay()
  const [removing, remove] = useDisclosure()
  if (!app?.sampleLoaded) return null
  return (
    <Note tone="accent" title="You are looking at sample data">
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          Features, priced plans, an add-on, payment templates, and 200 users with a few months of usage and
          payments. Removing it leaves your own data alone.
        </Text>
        <Button variant="default" size="xs" disabled={!may('removeSample')} onClick={remove.open}>
          Remove the sample
        </Button>
      </Group>
      <Dialog opened={removing} onClose={remove.close} title="Remove the sample?">
        <RemoveSample appId={appId} onDone={remove.close} />
      </Dialog>
    </Note>
  )
}
