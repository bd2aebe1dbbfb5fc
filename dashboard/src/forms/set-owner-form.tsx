import { Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { NewPasswordInput, passwordProblem } from './new-password-input.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'

const SET_OWNER = graphql(`
  mutation SetOwner($token: String!, $email: String!, $password: String!) {
    setOwner(token: $token, email: $email, password: $password) { email }
  }
`)

export function SetOwnerForm({ token, onDone }: { token: string; onDone: () => void }) {
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: { email: required('The email'), password: passwordProblem },
  })
  const setOwner = useChange(SET_OWNER, { after: onDone })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => setOwner.mutate({ token, ...values }, ontoFields(form)))}
    >
      <Stack>
        <FormAlert error={setOwner.error} fields={fieldsOf(form)} />
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          autoFocus
          {...form.getInputProps('email')}
        />
        <NewPasswordInput {...form.getInputProps('password')} />
        <Button type="submit" loading={setOwner.isPending} mt="xs">
          Become the owner
        </Button>
      </Stack>
    </form>
  )
}
