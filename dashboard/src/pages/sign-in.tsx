import { useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { forgetSession } from '../api/session.ts'
import { SignInForm } from '../forms/sign-in-form.tsx'
import { Entrance } from '../ui/entrance.tsx'

export function SignInPage() {
  const client = useQueryClient()
  const router = useRouter()
  const { to } = useSearch({ from: '/sign-in' })
  const enter = () => {
    forgetSession(client)
    // Only to one of our own pages: the address may come from anywhere.
    void router.navigate({ href: to?.match(/^\/(?![/\\])/) ? to : '/', replace: true })
  }
  return (
    <Entrance title="Sign in" about="Where your plans, users and limits are run.">
      <SignInForm onDone={enter} />
    </Entrance>
  )
}
