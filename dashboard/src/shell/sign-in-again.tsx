import { Button, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { forgetSession, whoIsThereNow } from '../api/session.ts'
import { setSessionResumed, useSessionEnded } from '../api/session-ended.ts'
import { useMe } from '../api/use-account.ts'
import { unsavedForms } from '../forms/unsaved.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Loading } from '../ui/loaded.tsx'

const SignInForm = lazy(async () => ({ default: (await import('../forms/sign-in-form.tsx')).SignInForm }))

/** Signs in over a page with unsaved changes, whose session has ended. */
export function SignInAgain() {
  const ended = useSessionEnded()
  const client = useQueryClient()
  const router = useRouter()
  const before = useMe()
  const leave = () => {
    for (const { discard } of unsavedForms()) discard()
    setSessionResumed()
    forgetSession(client)
    void router.navigate({ to: '/' })
  }
  const enter = async () => {
    const now = await whoIsThereNow(client)
    // Somebody else must not save what the first one typed.
    if (now?.id === before?.id) setSessionResumed()?.()
    else leave()
  }
  return (
    <Dialog
      opened={ended}
      onClose={leave}
      title="Your session has ended"
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      zIndex={400}
    >
      <Stack>
        <Text size="sm">
          Sign in again to continue. Your changes are still here, and a save that failed is repeated.
        </Text>
        <Suspense fallback={<Loading />}>
          <SignInForm email={before?.email ?? ''} onDone={enter} />
        </Suspense>
        <Button variant="subtle" onClick={leave}>
          Discard changes and leave
        </Button>
      </Stack>
    </Dialog>
  )
}
