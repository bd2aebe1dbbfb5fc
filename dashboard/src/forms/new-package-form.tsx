import { Radio, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { grantInput } from '../grants.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { FormActions } from './form-actions.tsx'
import { NameInput } from './name-input.tsx'
import { fieldsOf, idProblem, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CREATE = graphql(`
  mutation CreatePackage($appId: String!, $input: CreatePackageInput!) {
    createPackage(appId: $appId, input: $input) { id }
  }
`)

const COPIED = graphql(`
  query CopiedPackage($appId: String!, $id: String!) {
    package(appId: $appId, id: $id) {
      name isAddon metadata
      grants { id limit resetPeriod overageEnabled overageCap caps { limit period perEntity } }
      draft { grants { id limit resetPeriod overageEnabled overageCap caps { limit period perEntity } } }
    }
    features(appId: $appId) { id name type unitLabel unitLabelPlural archived }
  }
`)

interface NewPackageProps {
  appId: string
  /** id of the package to copy; undefined: a new one */
  from: string | undefined
  onDone: (id: string) => void
  onCancel: () => void
}

/** A new package, or a copy of one with its limits. */
export function NewPackage({ from, ...props }: NewPackageProps) {
  const asked = useAsk(COPIED, { appId: props.appId, id: from ?? '' }, { enabled: from !== undefined })
  if (from === undefined) return <NewPackageForm {...props} copy={null} />
  return (
    <Loaded of={asked}>
      {({ package: found, features }) => {
        if (!found) return null
        const isArchived = (id: string) => features.some((feature) => feature.id === id && feature.archived)
        const grants = (found.draft ?? found).grants
        return (
          <NewPackageForm
            {...props}
            copy={{
              name: found.name,
              isAddon: found.isAddon,
              metadata: found.metadata,
              features: grants
                .filter(({ id }) => !isArchived(id))
                .map((grant) => grantInput(grant, features)),
              leftOut: features.filter(({ id }) => isArchived(id) && grants.some((grant) => grant.id === id)),
            }}
          />
        )
      }}
    </Loaded>
  )
}

interface Copy {
  name: string
  isAddon: boolean
  metadata: Record<string, unknown>
  features: ReturnType<typeof grantInput>[]
  /** archived features, which no package can add */
  leftOut: { name: string }[]
}

interface NewPackageFormProps {
  appId: string
  copy: Copy | null
  onDone: (id: string) => void
  onCancel: () => void
}

function NewPackageForm({ appId, copy, onDone, onCancel }: NewPackageFormProps) {
  const may = useMay()
  const form = useForm({
    initialValues: {
      name: copy ? `${copy.name} copy` : '',
      id: '',
      kind: copy?.isAddon ? 'addon' : 'base',
    },
    validate: { name: required('The name'), id: idProblem },
  })
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, {
    done: saved(({ createPackage }) => {
      if (createPackage) onDone(createPackage.id)
    }),
  })
  const save = form.onSubmit(({ id, name, kind }) =>
    create.mutate(
      {
        appId,
        input: {
          id,
          name,
          isAddon: kind === 'addon',
          ...(copy && { features: copy.features, metadata: copy.metadata }),
        },
      },
      ontoFields(form),
    ),
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
            <Radio value="base" label="Plan" description="A user has one at a time" />
            <Radio value="addon" label="Add-on" description="On top of a plan; limits add up" />
          </Stack>
        </Radio.Group>
        {copy && (
          <Text size="sm" c="dimmed">
            The copy is a draft with the same limits. Prices are not copied.
            {copy.leftOut.length > 0 &&
              ` Archived features are left out: ${copy.leftOut.map(({ name }) => name).join(', ')}.`}
          </Text>
        )}
        <FormActions
          submit={copy ? 'Duplicate package' : 'Create package'}
          busy={create.isPending}
          disabled={!may('createPackage')}
          onCancel={onCancel}
        />
      </Stack>
    </form>
  )
}
