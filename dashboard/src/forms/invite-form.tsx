import { Radio, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { ROLES } from '../roles.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { LinkOnce } from '../ui/link-once.tsx'
import { When } from '../ui/when.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const INVITE = graphql(`
  mutation InviteMember($email: String!, $role: Role!) {
    inviteMember(email: $email, role: $role) { email url expiresAt emailed }
  }
`)

export function InviteForm({ onDone }: { onDone: () => void }) {
  const form = useForm({
    initialValues: { email: '', role: 'EDITOR' as 'OWNER' | 'EDITOR' | 'VIEWER' },
    validate: { email: required('The email') },
  })
  const { saved } = useUnsaved(form)
  const invite = useChange(INVITE, { done: saved() })
  const link = invite.data?.inviteMember
  if (link) {
    return (
      <LinkOnce label="The invitation's link" url={link.url} onDone={onDone}>
        {link.emailed
          ? `Emailed to ${link.email}. You can also send the link yourself.`
          : `Send this link to ${link.email}.`}
        {link.emailed === false && ' The email could not be sent.'} It is shown only once and works until{' '}
        <When at={link.expiresAt} time />.
      </LinkOnce>
    )
  }
  return (
    <form noValidate onSubmit={form.onSubmit((values) => invite.mutate(values, ontoFields(form)))}>
      <Stack>
        <FormAlert error={invite.error} fields={fieldsOf(form)} />
        <TextInput label="Email" type="email" data-autofocus {...form.getInputProps('email')} />
        <Radio.Group label="Role" {...form.getInputProps('role')}>
          <Stack gap="xs" mt="xs">
            {ROLES.map(({ value, label, about }) => (
              <Radio key={value} value={value} label={label} description={about} />
            ))}
          </Stack>
        </Radio.Group>
        <FormActions submit="Create link" busy={invite.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
