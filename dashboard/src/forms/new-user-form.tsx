import { Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, idProblem, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CREATE = graphql(`
  mutation CreateUser($appId: String!, $input: CreateUserInput!) {
    createUser(appId: $appId, input: $input) { id }
  }
`)

interface NewUserFormProps {
  appId: string
  onDone: (id: string) => void
  onCancel: () => void
}

export function NewUserForm({ appId, onDone, onCancel }: NewUserFormProps) {
  const may = useMay()
  const form = useForm({
    initialValues: { id: '', name: '', email: '', billingId: '' },
    validate: { id: idProblem },
  })
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, {
    done: saved(({ createUser }) => {
      if (createUser) onDone(createUser.id)
    }),
  })
  const save = form.onSubmit(({ id, ...values }) => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim() !== ''))
    create.mutate({ appId, input: { id, ...given } }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error} fields={fieldsOf(form)} />
        <TextInput
          label="Id"
          description="The id your application uses for this user"
          placeholder="ada"
          data-autofocus
          {...form.getInputProps('id')}
        />
        <TextInput label="Name" placeholder="Ada Lovelace" {...form.getInputProps('name')} />
        <TextInput label="Email" type="email" {...form.getInputProps('email')} />
        <TextInput
          label="Billing id"
          description="The customer's id at the billing provider, if there is one"
          {...form.getInputProps('billingId')}
        />
        <FormActions
          submit="Create user"
          busy={create.isPending}
          disabled={!may('createUser')}
          onCancel={onCancel}
        />
      </Stack>
    </form>
  )
}
