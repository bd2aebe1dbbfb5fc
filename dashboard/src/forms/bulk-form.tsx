import { NumberInput, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useNavigate } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Note } from '../ui/note.tsx'
import type { BulkKind, BulkSubjects } from './bulk-subjects.ts'
import { FormActions } from './form-actions.tsx'
import { costText, isPriced } from './not-charged.tsx'
import { useUnsaved } from './unsaved.ts'

const CATALOGUE = graphql(`
  query BulkCatalogue($appId: String!) {
    packages(appId: $appId) { id name status isAddon archived prices { amount decimals currency interval } }
    features(appId: $appId) { id name type archived }
  }
`)
const START = graphql(`
  mutation StartBulkChange($appId: String!, $input: BulkChangeInput!) {
    startBulkChange(appId: $appId, input: $input) { id }
  }
`)

const MODES = [
  { value: 'REPLACE', label: 'Set the limit' },
  { value: 'ADD', label: 'Add to the limit' },
  { value: 'UNLIMITED', label: 'No limit' },
  { value: 'GRANT', label: 'Grant the feature' },
  { value: 'DENY', label: 'Deny the feature' },
]
const hasLimit = (mode: string) => mode === 'REPLACE' || mode === 'ADD'

interface BulkFormProps {
  appId: string
  kind: BulkKind
  subjects: BulkSubjects
  onCancel: () => void
}

/** The details of a bulk change. It is checked first; nothing changes until it is applied. */
export function BulkForm({ appId, kind, subjects, onCancel }: BulkFormProps) {
  const navigate = useNavigate()
  const asked = useAsk(CATALOGUE, { appId })
  const form = useForm({
    initialValues: {
      packageId: null as string | null,
      featureId: null as string | null,
      when: 'BEST',
      days: 14 as number | string,
      mode: 'REPLACE',
      limit: '' as number | string,
      reason: '',
    },
    validate: {
      packageId: (id) => ((kind === 'plan' || kind === 'trial') && id === null ? 'Choose a plan.' : null),
      featureId: (id) => (kind === 'override' && id === null ? 'Choose a feature.' : null),
      days: (days) => (kind === 'trial' && !(Number(days) >= 1) ? 'At least one day.' : null),
      limit: (limit, { mode }) =>
        kind === 'override' && hasLimit(mode) && limit === '' ? 'The limit is missing.' : null,
    },
  })
  const { saved } = useUnsaved(form)
  const start = useChange(START, {
    done: saved(({ startBulkChange }) => {
      const id = startBulkChange?.id
      if (id) void navigate({ to: '/apps/$app/bulk', params: { app: appId }, search: { id } })
    }),
  })
  const plans = (asked.data?.packages ?? []).filter(
    ({ status, isAddon, archived }) => status === 'PUBLISHED' && !isAddon && !archived,
  )
  const chosen = plans.find(({ id }) => id === form.values.packageId)
  const features = (asked.data?.features ?? []).filter(({ archived }) => !archived)
  const isBinary = features.find(({ id }) => id === form.values.featureId)?.type === 'BINARY'
  const check = form.onSubmit(({ packageId, featureId, when, days, mode, limit, reason }) => {
    const action = {
      plan: { changePlan: { packageId: packageId ?? '', when: when as 'NOW' | 'BEST' | 'PERIOD_END' } },
      trial: { startTrial: { packageId: packageId ?? '', days: Number(days) } },
      cancel: { cancel: { atPeriodEnd: when !== 'NOW' } },
      override: {
        setOverride: {
          featureId: featureId ?? '',
          mode,
          limit: hasLimit(mode) ? Number(limit) : null,
          reason: reason.trim() === '' ? null : reason,
        },
      },
    }[kind]
    start.mutate({ appId, input: { of: subjects, ...action } })
  })
  return (
    <form noValidate onSubmit={check}>
      <Stack>
        <FormAlert error={start.error ?? asked.error} />
        {(kind === 'plan' || kind === 'trial') && (
          <Select
            label="Plan"
            placeholder="Choose a plan"
            searchable
            data={plans.map(({ id, name }) => ({ value: id, label: name }))}
            data-autofocus
            {...form.getInputProps('packageId')}
          />
        )}
        {kind === 'plan' && (
          <>
            <Radio.Group label="When" {...form.getInputProps('when')}>
              <Stack gap="xs" mt="xs">
                <Radio value="BEST" label="Upgrades now, downgrades at the end of the period" />
                <Radio value="NOW" label="Now" />
                <Radio value="PERIOD_END" label="At the end of the period" />
              </Stack>
            </Radio.Group>
            {chosen && isPriced(chosen) && (
              <Note tone="warn" title="Not charged">
                <Text size="sm">{costText(chosen)} Changing the plan here does not charge the users.</Text>
              </Note>
            )}
            <Text size="sm" c="dimmed">
              Plans charged by a billing provider are skipped. Change those individually, with a quote.
            </Text>
          </>
        )}
        {kind === 'trial' && (
          <>
            <NumberInput
              label="Days"
              min={1}
              max={730}
              allowDecimal={false}
              {...form.getInputProps('days')}
            />
            <Text size="sm" c="dimmed">
              Users who have a plan, or had a trial of this one, are skipped.
            </Text>
          </>
        )}
        {kind === 'cancel' && (
          <Radio.Group label="When" {...form.getInputProps('when')}>
            <Stack gap="xs" mt="xs">
              <Radio value="BEST" label="At the end of the period" />
              <Radio value="NOW" label="Immediately. This cannot be undone." />
            </Stack>
          </Radio.Group>
        )}
        {kind === 'override' && (
          <>
            <Select
              label="Feature"
              placeholder="Choose a feature"
              searchable
              data={features.map(({ id, name }) => ({ value: id, label: name }))}
              data-autofocus
              {...form.getInputProps('featureId')}
              onChange={(id) => {
                form.setFieldValue('featureId', id)
                const binary = features.find((feature) => feature.id === id)?.type === 'BINARY'
                form.setFieldValue('mode', binary ? 'GRANT' : 'REPLACE')
              }}
            />
            <Select
              label="What it does"
              allowDeselect={false}
              data={MODES.filter(({ value }) => !isBinary || value === 'GRANT' || value === 'DENY')}
              {...form.getInputProps('mode')}
            />
            {hasLimit(form.values.mode) && (
              <NumberInput
                label={form.values.mode === 'ADD' ? 'How many more' : 'Limit'}
                min={0}
                allowDecimal={false}
                allowNegative={false}
                {...form.getInputProps('limit')}
              />
            )}
            <TextInput label="Reason" description="Internal note" {...form.getInputProps('reason')} />
            <Text size="sm" c="dimmed">
              Users who have an override of this feature keep theirs.
            </Text>
          </>
        )}
        <FormActions submit="Preview" busy={start.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  )
}
