import { Stack, TagsInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const SET = graphql(`
  mutation SetOrigins($appId: String!, $origins: [String!]!) {
    setOrigins(appId: $appId, origins: $origins) { id }
  }
`)

export function OriginsForm({ app, onDone }: { app: { id: string; origins: string[] }; onDone: () => void }) {
  const form = useForm({ initialValues: { origins: app.origins } })
  const { saved } = useUnsaved(form)
  const set = useChange(SET, { done: saved(onDone), said: 'Allowed origins saved.' })
  return (
    <form onSubmit={form.onSubmit(({ origins }) => set.mutate({ appId: app.id, origins }, ontoFields(form)))}>
      <Stack>
        <FormAlert error={set.error} fields={fieldsOf(form)} />
        <TagsInput
          label="Allowed origins"
          description="Browsers on these origins may call the client API with a user's token. Press Enter after each."
          placeholder="https://app.example.com"
          data-autofocus
          {...form.getInputProps('origins')}
        />
        <FormActions submit="Save" busy={set.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
