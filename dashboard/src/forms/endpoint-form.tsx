import { MultiSelect, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const TYPES = graphql(`
  query EventTypes { eventTypes }
`)
const CREATE = graphql(`
  mutation CreateWebhookEndpoint($appId: String!, $input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(appId: $appId, input: $input) { id secret }
  }
`)
const UPDATE = graphql(`
  mutation UpdateWebhookEndpoint($appId: String!, $id: String!, $input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(appId: $appId, id: $id, input: $input) { id }
  }
`)

interface EndpointFormProps {
  appId: string
  /** null: a new one */
  endpoint: { id: string; url: string; types: string[]; description: string | null } | null
  onCreated?: (made: { id: string; secret: string; rotated: boolean }) => void
  onDone: () => void
}

export function EndpointForm({ appId, endpoint, onCreated, onDone }: EndpointFormProps) {
  const types = useAsk(TYPES, {})
  const form = useForm({
    initialValues: {
      url: endpoint?.url ?? '',
      description: endpoint?.description ?? '',
      types: endpoint?.types ?? [],
    },
    validate: { url: required('The URL') },
  })
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, {
    done: saved(({ createWebhookEndpoint: made }) => made && onCreated?.({ ...made, rotated: false })),
  })
  const update = useChange(UPDATE, {
    done: saved(onDone),
    said: (_, { input }) => `${input.url ?? endpoint?.url} saved.`,
  })
  const save = form.onSubmit(({ description, ...input }) => {
    const values = { ...input, description: description.trim() === '' ? null : description }
    if (endpoint) update.mutate({ appId, id: endpoint.id, input: values }, ontoFields(form))
    else create.mutate({ appId, input: values }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error ?? update.error ?? types.error} fields={fieldsOf(form)} />
        <TextInput
          label="URL"
          description="Receives events by POST, over https"
          placeholder="https://example.com/webhooks"
          data-autofocus
          {...form.getInputProps('url')}
        />
        <MultiSelect
          label="Event types"
          description="Leave empty to receive all events"
          data={types.data?.eventTypes ?? []}
          searchable
          clearable
          {...form.getInputProps('types')}
        />
        <TextInput
          label="Description"
          description="Only members see it"
          placeholder="CRM"
          {...form.getInputProps('description')}
        />
        <FormActions
          submit={endpoint ? 'Save' : 'Create endpoint'}
          busy={create.isPending || update.isPending}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}
