import { Radio, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { NameInput } from './name-input.tsx'
import { fieldsOf, idProblem, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

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
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, {
    done: saved(({ createPackage }) => {
      if (createPackage) onDone(createPackage.id)
    }),
  })
  const save = form.onSubmit(({ id, name, kind }) =>
    create.mutate({ appId, input: { id, name, isAddon: kind === 'addon' } }, ontoFields(form)),
  )
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error} fields={fieldsOf(form)} />
        <NameInput form={form} placeholder="Pro" />
        <TextInput
          label="Id"
          description="Your code passes it to subscribe. It cannot be changed later"
          placeholder="pro"
          {...form.getInputProps('id')}
        />
        <Radio.Group label="Type" {...form.getInputProps('kind')}>
          <Stack gap="xs" mt="xs">
            <Radio value="base" label="Base plan" description="A user has one at a time" />
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
