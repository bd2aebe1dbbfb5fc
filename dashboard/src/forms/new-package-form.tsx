import { Radio, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, idFrom, idProblem, ontoFields, required } from './onto-fields.ts'

const CREATE = graphql(`
  mutation CreatePackage($appId: String!, $input: CreatePackageInput!) {
    createPackage(appId: $appId, input: $input) { id }
  }
`)

interface NewPackageFormProps {
  appId: string
  onDone: (id: string) => void
  onCancel: () => void
}

export function NewPackageForm({ appId, onDone, onCancel }: NewPackageFormProps) {
  const may = useMay()
  const form = useForm({
    initialValues: { name: '', id: '', kind: 'base' },
    validate: { name: required('The name'), id: idProblem },
  })
  const create = useChange(CREATE, {
    done: ({ createPackage }) => {
      if (createPackage) onDone(createPackage.id)
    },
  })
  const save = form.onSubmit(({ id, name, kind }) =>
    create.mutate({ appId, input: { id, name, isAddon: kind === 'addon' } }, ontoFields(form)),
  )
  const name = form.getInputProps('name')
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error} fields={fieldsOf(form)} />
        <TextInput
          label="Name"
          placeholder="Pro"
          data-autofocus
          {...name}
          onChange={(event) => {
            const follows = form.values.id === idFrom(form.values.name)
            name.onChange(event)
            if (follows) form.setFieldValue('id', idFrom(event.currentTarget.value))
          }}
        />
        <TextInput
          label="Id"
          description="What your code passes to subscribe; it cannot be changed"
          placeholder="pro"
          {...form.getInputProps('id')}
        />
        <Radio.Group label="Kind" {...form.getInputProps('kind')}>
          <Stack gap="xs" mt={6}>
            <Radio value="base" label="Base plan" description="A user has one of them at a time" />
            <Radio value="addon" label="Add-on" description="On top of a base plan; budgets add up" />
          </Stack>
        </Radio.Group>
        <FormActions
          submit="Create package"
          busy={create.isPending}
          disabled={!may('createPackage')}
          onCancel={onCancel}
        />
      </Stack>
    </form>
  )
}
