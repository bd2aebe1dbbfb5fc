import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'

const SIGN_IN = graphql(`
  mutation SignIn($email: String!, $password: String!) {
    signIn(email: $email, password: $password) { email }
  }
`)

export function SignInForm({ onDone }: { onDone: () => void }) {
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: { email: required('The email'), password: required('The password') },
  })
  const signIn = useChange(SIGN_IN, { after: onDone })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => signIn.mutate(values, ontoFields(form)))}>
      <Stack>
        <FormAlert error={signIn.error} fields={fieldsOf(form)} />
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          data-autofocus
          autoFocus
          {...form.getInputProps('email')}
        />
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
        <Button type="submit" loading={signIn.isPending} mt="xs">
          Sign in
        </Button>
      </Stack>
    </form>
  )
}
