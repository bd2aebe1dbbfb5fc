import { Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { units } from '../ui/number.ts'
import { FormActions } from './form-actions.tsx'
import { isoOfLocal, timeZone } from './local-time.ts'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const RESEND = graphql(`
  mutation ResendFailedEvents($appId: String!, $endpointId: String!, $from: String, $to: String) {
    resendFailedEvents(appId: $appId, endpointId: $endpointId, from: $from, to: $to) { resent more }
  }
`)

interface ResendFailedFormProps {
  appId: string
  endpointId: string
  onDone: () => void
}

export function ResendFailedForm({ appId, endpointId, onDone }: ResendFailedFormProps) {
  const form = useForm({ initialValues: { from: '', to: '' } })
  const { saved } = useUnsaved(form)
  const resend = useChange(RESEND, {
    done: saved(onDone),
    said: ({ resendFailedEvents: is }) =>
      `${units(is?.resent ?? 0, 'event', 'events')} queued for resending.${is?.more ? ' More failed events remain; resend again.' : ''}`,
  })
  const save = form.onSubmit(({ from, to }) =>
    resend.mutate({ appId, endpointId, from: isoOf(from), to: isoOf(to) }, ontoFields(form)),
  )
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={resend.error} fields={fieldsOf(form)} />
        <Text size="sm">All permanently failed events are sent again, oldest first.</Text>
        <TextInput
          type="datetime-local"
          label="From"
          description={`Leave empty for the oldest. Time zone: ${timeZone}`}
          {...form.getInputProps('from')}
        />
        <TextInput
          type="datetime-local"
          label="To"
          description={`Leave empty for the newest. Time zone: ${timeZone}`}
          {...form.getInputProps('to')}
        />
        <FormActions submit="Resend" busy={resend.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}

const isoOf = (entered: string): string | null => (entered === '' ? null : isoOfLocal(entered))
