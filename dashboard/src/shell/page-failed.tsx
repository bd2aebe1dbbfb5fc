import { Box, Button, Stack } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { isNotFound, isUnanswered, messageOf } from '../api/api-error.ts'
import { NotFound } from '../ui/not-found.tsx'
import { Note } from '../ui/note.tsx'
import { Page } from '../ui/page.tsx'
import { useServerBack } from '../ui/use-server-back.ts'

/** Shown when a page fails. A new release removes old files, so reloading often helps. */
export function PageFailed({ error }: { error: unknown }) {
  const router = useRouter()
  const unanswered = isUnanswered(error)
  useServerBack(unanswered, () => void router.invalidate())
  if (isNotFound(error)) return <NotFound data={messageOf(error)} />
  return (
    <Box p="md">
      <Page title="This page could not be shown">
        <Note tone="bad" role="alert">
          <Stack align="flex-start" gap="sm">
            {messageOf(error)}
            {unanswered && ' This page retries by itself.'}
            <Button
              variant="default"
              onClick={() => (unanswered ? void router.invalidate() : location.reload())}
            >
              {unanswered ? 'Try again' : 'Reload'}
            </Button>
          </Stack>
        </Note>
      </Page>
    </Box>
  )
}
