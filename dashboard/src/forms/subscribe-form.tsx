import { MultiSelect, Select, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { useUnsaved } from './unsaved.ts'

const PUBLISHED = graphql(`
  query SubscribablePackages($appId: String!) {
    packages(appId: $appId) { id name status isAddon archived }
  }
`)
const SUBSCRIBE = graphql(`
  mutation Subscribe($appId: String!, $userId: String!, $packageIds: [String!]!) {
    subscribe(appId: $appId, userId: $userId, packageIds: $packageIds) { id }
  }
`)

interface SubscribeFormProps {
  appId: string
  userId: string
  onDone: () => void
}

export function SubscribeForm({ appId, userId, onDone }: SubscribeFormProps) {
  const asked = useAsk(PUBLISHED, { appId })
  const packages = asked.data?.packages ?? []
  const published = packages.filter(({ status, archived }) => status === 'PUBLISHED' && !archived)
  const choices = (isAddon: boolean) =>
    published.filter((p) => p.isAddon === isAddon).map(({ id, name }) => ({ value: id, label: name }))
  const form = useForm({
    initialValues: { base: null as string | null, addons: [] as string[] },
    validate: {
      base: (base, { addons }) => (base === null && addons.length === 0 ? 'Choose a package.' : null),
    },
  })
  const { saved } = useUnsaved(form)
  const subscribe = useChange(SUBSCRIBE, {
    done: saved(onDone),
    said: 'Subscribed. It applies immediately.',
  })
  const save = form.onSubmit(({ base, addons }) =>
    subscribe.mutate({ appId, userId, packageIds: base === null ? addons : [base, ...addons] }),
  )
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={subscribe.error ?? asked.error} />
        <Select
          label="Base plan"
          description="A user has one at a time"
          placeholder={choices(false).length === 0 ? 'Publish a base plan first' : 'Choose a plan'}
          data={choices(false)}
          searchable
          clearable
          data-autofocus
          {...form.getInputProps('base')}
        />
        {choices(true).length > 0 && (
          <MultiSelect
            label="Add-ons"
            description="Added to the base plan chosen here, or to the one the user has"
            data={choices(true)}
            searchable
            {...form.getInputProps('addons')}
          />
        )}
        <FormActions submit="Subscribe" busy={subscribe.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
