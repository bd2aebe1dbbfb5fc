import { Button, Group, NumberInput, Stack, Switch } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const UPDATE = graphql(`
  mutation UpdateEventSettings($appId: String!, $usageRecorded: Boolean, $keptDays: Int) {
    updateEventSettings(appId: $appId, usageRecorded: $usageRecorded, keptDays: $keptDays) { usageRecorded keptDays }
  }
`)

interface EventSettingsFormProps {
  appId: string
  settings: { usageRecorded: boolean; keptDays: number }
}

/** Which events an app has, and how long they are kept. */
export function EventSettingsForm({ appId, settings }: EventSettingsFormProps) {
  const { usageRecorded, keptDays } = settings
  const may = useMay()
  const form = useForm({
    initialValues: { usageRecorded, keptDays: keptDays as number | '' },
    validate: { keptDays: (value) => (value === '' ? 'The number of days is missing.' : null) },
  })
  const { saved } = useUnsaved(form)
  // Show another member's change, unless it would overwrite unsaved input.
  useEffect(() => {
    if (form.isDirty()) return
    form.setValues({ usageRecorded, keptDays })
    form.resetDirty({ usageRecorded, keptDays })
  }, [usageRecorded, keptDays])
  const update = useChange(UPDATE, { said: 'Event settings saved.', done: saved() })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ usageRecorded, keptDays }) =>
        update.mutate({ appId, usageRecorded, keptDays: Number(keptDays) }, ontoFields(form)),
      )}
    >
      <Stack gap="sm">
        <FormAlert error={update.error} fields={fieldsOf(form)} />
        <Switch
          label="Send usage.recorded"
          description="One event for each recorded call. Recording usage becomes slower"
          {...form.getInputProps('usageRecorded', { type: 'checkbox' })}
        />
        <Group align="flex-end" gap="xs">
          <NumberInput
            label="Event retention in days"
            description="From 1 to 90. Older events cannot be read or resent"
            min={1}
            max={90}
            allowDecimal={false}
            w={300}
            {...form.getInputProps('keptDays')}
          />
          <Button
            type="submit"
            variant="default"
            loading={update.isPending}
            disabled={!may('updateEventSettings')}
          >
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
