import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Note } from '../ui/note.tsx'
import { MetadataInput, metadataOf, metadataProblem, metadataText } from './metadata-input.tsx'
import { fieldsOf, idProblem, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const UPDATE = graphql(`
  mutation UpdateUser($appId: String!, $id: String!, $input: UpdateUserInput!) {
    updateUser(appId: $appId, id: $id, input: $input) { id }
  }
`)

interface UserFormProps {
  appId: string
  user: {
    id: string
    name: string | null
    email: string | null
    billingId: string | null
    metadata: Record<string, unknown>
  }
  onRenamed: (id: string) => void
}

export function UserForm({ appId, user, onRenamed }: UserFormProps) {
  const may = useMay()
  const form = useForm({
    initialValues: {
      id: user.id,
      name: user.name ?? '',
      email: user.email ?? '',
      billingId: user.billingId ?? '',
      metadata: metadataText(user.metadata),
    },
    validate: { id: idProblem, metadata: metadataProblem },
  })
  const { saved } = useUnsaved(form)
  const update = useChange(UPDATE, {
    said: (_, { input }) => `${input.name || input.id || user.id} saved.`,
    done: saved(({ updateUser }) => {
      if (updateUser && updateUser.id !== user.id) onRenamed(updateUser.id)
    }),
  })
  const save = form.onSubmit(({ id, name, email, billingId, metadata }) => {
    // Only what was changed here: an import may have changed the rest since the page was loaded.
    const input = {
      name: name || null,
      metadata: metadataOf(metadata),
      ...(id !== user.id && { id }),
      ...(email !== (user.email ?? '') && { email: email || null }),
      ...(billingId !== (user.billingId ?? '') && { billingId: billingId || null }),
    }
    update.mutate({ appId, id: user.id, input }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack maw={560}>
        <FormAlert error={update.error} fields={fieldsOf(form)} />
        <TextInput label="Name" {...form.getInputProps('name')} />
        <TextInput label="Id" {...form.getInputProps('id')} />
        {form.values.id !== user.id && (
          <Note tone="warn">
            Your application must use the new id immediately. Subscriptions, usage and tokens are kept.
          </Note>
        )}
        <TextInput label="Email" type="email" {...form.getInputProps('email')} />
        <TextInput
          label="Billing id"
          description="The customer's id at the billing provider. It cannot be changed while something is charged to it."
          {...form.getInputProps('billingId')}
        />
        <Text size="sm" c="dimmed">
          Email and billing id of many users are changed by a{' '}
          <AnchorLink to="/apps/$app/import" params={{ app: appId }} size="sm" underline="always">
            CSV import
          </AnchorLink>
          .
        </Text>
        <MetadataInput {...form.getInputProps('metadata')} />
        <div>
          <Button type="submit" loading={update.isPending} disabled={!may('updateUser')}>
            Save
          </Button>
        </div>
      </Stack>
    </form>
  )
}
