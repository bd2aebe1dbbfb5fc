import { NumberInput, SegmentedControl, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Note } from '../ui/note.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const RECORD = graphql(`
  mutation RecordUsage($appId: String!, $input: CreateUsageEventInput!) {
    recordUsage(appId: $appId, input: $input) { recorded reason }
  }
`)

interface RecordUsageFormProps {
  appId: string
  userId: string
  feature: { featureId: string; name: string; unitLabelPlural: string | null }
  /** to begin with */
  amount?: number
  /** whose caps count the usage */
  entities?: readonly string[]
  onDone: () => void
}

export function RecordUsageForm({
  appId,
  userId,
  feature,
  amount = 1,
  entities = [],
  onDone,
}: RecordUsageFormProps) {
  const [refusal, setRefusal] = useState<string | null>(null)
  // One key while the form is open: a second click, or a retry after a lost answer, counts once.
  const [key, setKey] = useState(() => crypto.randomUUID())
  const form = useForm({
    initialValues: { action: 'ADD' as 'ADD' | 'SET', delta: amount as number | '' },
    validate: { delta: (value) => (value === '' ? 'The amount is missing.' : null) },
    onValuesChange: () => setKey(crypto.randomUUID()),
  })
  const { saved } = useUnsaved(form)
  const record = useChange(RECORD, {
    done({ recordUsage }) {
      if (!recordUsage?.recorded) {
        setRefusal(recordUsage?.reason ?? 'The usage was not recorded.')
        return
      }
      notifications.show({ message: `Usage of ${feature.name} recorded.`, autoClose: 4_000 })
      saved(onDone)(undefined)
    },
  })
  const save = form.onSubmit(({ action, delta }) => {
    setRefusal(null)
    const input = { userId, featureId: feature.featureId, action, delta: Number(delta), idempotencyKey: key }
    const named = entities.length > 0 ? { entities: [...entities] } : {}
    record.mutate({ appId, input: { ...input, ...named } }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={record.error} fields={fieldsOf(form)} />
        {refusal !== null && (
          <Note tone="bad" role="alert" title="Not recorded">
            {refusal}
          </Note>
        )}
        <SegmentedControl
          aria-label="How"
          data={[
            { value: 'ADD', label: 'Add to usage' },
            { value: 'SET', label: 'Set usage' },
          ]}
          {...form.getInputProps('action')}
        />
        <NumberInput
          label={feature.unitLabelPlural ? `Amount, in ${feature.unitLabelPlural}` : 'Amount'}
          description={
            form.values.action === 'ADD' ? 'A negative amount reverts usage' : 'Allow exceeding the limit'
          }
          allowDecimal={false}
          data-autofocus
          {...form.getInputProps('delta')}
        />
        <FormActions submit="Record" busy={record.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
