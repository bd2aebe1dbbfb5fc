import { Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { NewPasswordInput, passwordProblem } from './new-password-input.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CHANGE = graphql(`
  mutation ChangePassword($current: String!, $password: String!) {
    changePassword(current: $current, password: $password)
  }
`)

export function ChangePasswordForm() {
  const form = useForm({
    initialValues: { current: '', password: '' },
    validate: { current: required('The current password'), password: passwordProblem },
  })
  useUnsaved(form)
  const change = useChange(CHANGE, { said: 'Password changed.', done: () => form.reset() })
  return (
    <form noValidate onSubmit={form.onSubmit((values) => change.mutate(values, ontoFields(form)))}>
      <Stack maw={380}>
        <FormAlert error={change.error} fields={fieldsOf(form)} />
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          {...form.getInputProps('current')}
        />
        <NewPasswordInput label="New password" {...form.getInputProps('password')} />
        <div>
          <Button type="submit" loading={change.isPending}>
            Change password
          </Button>
        </div>
      </Stack>
    </form>
  )
}
