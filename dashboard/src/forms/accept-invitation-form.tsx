import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { NewPasswordInput, passwordProblem } from './new-password-input.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'

const ACCEPT = graphql(`
  mutation AcceptInvitation($token: String!, $password: String!) {
    acceptInvitation(token: $token, password: $password) { email }
  }
`)

export function AcceptInvitationForm({ token, onDone }: { token: string; onDone: () => void }) {
  const form = useForm({ initialValues: { password: '' }, validate: { password: passwordProblem } })
  const accept = useChange(ACCEPT, { after: onDone })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => accept.mutate({ token, ...values }, ontoFields(form)))}
    >
      <Stack>
        <FormAlert error={accept.error} fields={fieldsOf(form)} />
        <NewPasswordInput {...form.getInputProps('password')} />
        <Button type="submit" loading={accept.isPending} mt="xs">
          Accept
        </Button>
      </Stack>
    </form>
  )
}
