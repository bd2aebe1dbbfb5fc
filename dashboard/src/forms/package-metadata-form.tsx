import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { MetadataInput, metadataOf, metadataProblem, metadataText } from './metadata-input.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const UPDATE = graphql(`
  mutation UpdatePackage($appId: String!, $id: String!, $input: UpdatePackageInput!, $version: String) {
    updatePackage(appId: $appId, id: $id, input: $input, expectedVersion: $version) { id }
  }
`)

interface PackageMetadataFormProps {
  appId: string
  id: string
  version: string
  metadata: Record<string, unknown>
}

export function PackageMetadataForm({ appId, id, version, metadata }: PackageMetadataFormProps) {
  const may = useMay()
  const form = useForm({
    initialValues: { metadata: metadataText(metadata) },
    validate: { metadata: metadataProblem },
  })
  const { saved } = useUnsaved(form)
  const update = useChange(UPDATE, { said: 'Metadata saved. It is live now.', done: saved() })
  const save = form.onSubmit(({ metadata }) =>
    update.mutate({ appId, id, input: { metadata: metadataOf(metadata) }, version }, ontoFields(form)),
  )
  return (
    <form noValidate onSubmit={save}>
      <Stack maw={560} align="stretch">
        <FormAlert error={update.error} fields={fieldsOf(form)} />
        <MetadataInput readOnly={!may('updatePackage')} {...form.getInputProps('metadata')} />
        <div>
          <Button type="submit" loading={update.isPending} disabled={!may('updatePackage')}>
            Save metadata
          </Button>
        </div>
      </Stack>
    </form>
  )
}
