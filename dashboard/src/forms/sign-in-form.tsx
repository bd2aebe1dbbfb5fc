import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { ForgottenPassword } from './forgotten-password.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'

const SIGN_IN = graphql(`
  mutation SignIn($email: String!, $password: String!) {
    signIn(email: $email, password: $password) { email }
  }
`)

interface SignInFormProps {
  /** already known */
  email?: string
  onDone: () => void
}

export function SignInForm({ email = '', onDone }: SignInFormProps) {
  const [forgotten, { toggle }] = useDisclosure()
  const form = useForm({
    initialValues: { email, password: '' },
    validate: { email: required('The email'), password: required('The password') },
  })
  const signIn = useChange(SIGN_IN, { after: onDone, signsIn: true })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => signIn.mutate(values, ontoFields(form)))}>
      <Stack>
        <FormAlert error={signIn.error} fields={fieldsOf(form)} />
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          {...(email === '' && { 'data-autofocus': true, autoFocus: true })}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          {...(email !== '' && { 'data-autofocus': true, autoFocus: true })}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={signIn.isPending} mt="xs">
          Sign in
        </Button>
        <Anchor
          component="button"
          type="button"
          size="sm"
          ta="center"
          aria-expanded={forgotten}
          onClick={toggle}
        >
          Forgot password?
        </Anchor>
        {forgotten && <ForgottenPassword email={form.getValues().email} />}
      </Stack>
    </form>
  )
}
