import { PasswordInput } from '@mantine/core'

const SHORTEST = 10

export const passwordProblem = (value: string): string | null =>
  value.length < SHORTEST ? `A password has at least ${SHORTEST} characters.` : null

export function NewPasswordInput(props: { value?: string; error?: React.ReactNode; label?: string }) {
  return (
    <PasswordInput
      label="Password"
      description={`At least ${SHORTEST} characters; a short sentence works well`}
      autoComplete="new-password"
      {...props}
    />
  )
}
