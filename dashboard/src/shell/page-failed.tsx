import { Button, Stack } from '@mantine/core'
import { messageOf } from '../api/api-error.ts'
import { Note } from '../ui/note.tsx'

/** Shown when a page fails. A new release removes old files, so reloading often helps. */
export function PageFailed({ error }: { error: unknown }) {
  return (
    <Note tone="bad" title="This page could not be shown" role="alert">
      <Stack align="flex-start" gap="sm">
        {messageOf(error)}
        <Button variant="default" onClick={() => location.reload()}>
          Reload
        </Button>
      </Stack>
    </Note>
  )
}
