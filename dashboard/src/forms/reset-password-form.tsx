import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { NewPasswordInput, passwordProblem } from './new-password-input.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'

const RESET = graphql(`
  mutation ResetPassword($token: String!, $password: String!) {
    resetPassword(token: $token, password: $password) { email }
  }
`)

export function ResetPasswordForm({ token, onDone }: { token: string; onDone: () => void }) {
  const form = useForm({ initialValues: { password: '' }, validate: { password: passwordProblem } })
  const reset = useChange(RESET, { after: onDone })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => reset.mutate({ token, ...values }, ontoFields(form)))}
    >
      <Stack>
        <FormAlert error={reset.error} fields={fieldsOf(form)} />
        <NewPasswordInput {...form.getInputProps('password')} />
        <Button type="submit" loading={reset.isPending} mt="xs">
          Set password
        </Button>
      </Stack>
    </form>
  )
}
