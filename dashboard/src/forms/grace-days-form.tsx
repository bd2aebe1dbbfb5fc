import { Button, Group, NumberInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const SET = graphql(`
  mutation SetGraceDays($appId: String!, $days: Int!) {
    setGraceDays(appId: $appId, days: $days) { graceDays }
  }
`)

export function GraceDaysForm({ appId, days }: { appId: string; days: number }) {
  const may = useMay()
  const form = useForm({
    initialValues: { days: days as number | '' },
    validate: { days: (value) => (value === '' ? 'The number of days is missing.' : null) },
  })
  const { saved } = useUnsaved(form)
  // Show another member's change, unless it would overwrite unsaved input.
  useEffect(() => {
    if (form.isDirty()) return
    form.setValues({ days })
    form.resetDirty({ days })
  }, [days])
  const set = useChange(SET, { said: 'Grace period saved.', done: saved() })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ days }) => set.mutate({ appId, days: Number(days) }, ontoFields(form)))}
    >
      <Stack gap="xs">
        <FormAlert error={set.error} fields={fieldsOf(form)} />
        <Group align="flex-end" gap="xs">
          <NumberInput
            label="Grace period in days"
            description="How long access continues after a failed payment"
            min={0}
            allowDecimal={false}
            allowNegative={false}
            w={300}
            {...form.getInputProps('days')}
          />
          <Button type="submit" variant="default" loading={set.isPending} disabled={!may('setGraceDays')}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
