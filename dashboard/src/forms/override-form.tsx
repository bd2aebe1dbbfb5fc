import { NumberInput, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { type CatalogueFeature, type Grant, RESET_PERIODS } from '../grants.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { isoOfLocal, localMinute, timeZone } from './local-time.ts'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const SET = graphql(`
  mutation SetOverride($appId: String!, $input: OverrideInput!) {
    setOverride(appId: $appId, input: $input) { mode }
  }
`)

const MODES = [
  { value: 'REPLACE', label: 'Set the limit' },
  { value: 'ADD', label: 'Add to the limit' },
  { value: 'UNLIMITED', label: 'No limit' },
  { value: 'GRANT', label: 'Grant the feature' },
  { value: 'DENY', label: 'Deny the feature' },
] as const
type Mode = (typeof MODES)[number]['value']

const OVERAGE = [
  { value: 'packages', label: 'same as the packages' },
  { value: 'yes', label: 'allowed' },
  { value: 'no', label: 'not allowed' },
]

const takesLimit = (mode: Mode) => mode === 'REPLACE' || mode === 'ADD'

interface OverrideFormProps {
  appId: string
  userId: string
  features: readonly CatalogueFeature[]
  /** the one that is changed; null: a new one */
  override: {
    featureId: string
    mode: Mode
    limit: number | null
    overageEnabled: boolean | null
    resetPeriod: Grant['resetPeriod']
    expiresAt: string | null
    reason: string | null
  } | null
  onDone: () => void
}

export function OverrideForm({ appId, userId, features, override, onDone }: OverrideFormProps) {
  const form = useForm({
    initialValues: {
      featureId: override?.featureId ?? null,
      mode: override?.mode ?? ('REPLACE' as Mode),
      limit: (override?.limit ?? '') as number | string,
      overage: override?.overageEnabled == null ? 'packages' : override.overageEnabled ? 'yes' : 'no',
      resetPeriod: override?.resetPeriod ?? ('MONTH' as Grant['resetPeriod']),
      expiresAt: override?.expiresAt ? localMinute(override.expiresAt) : '',
      reason: override?.reason ?? '',
    },
    validate: {
      featureId: required('The feature'),
      limit: (limit, { mode }) => (takesLimit(mode) && limit === '' ? 'The limit is missing.' : null),
    },
  })
  const { saved } = useUnsaved(form)
  const { featureId, mode } = form.values
  const chosen = features.find(({ id }) => id === featureId)
  const binary = chosen?.type === 'BINARY'
  const set = useChange(SET, {
    done: saved(onDone),
    said: `Override of ${chosen?.name ?? featureId} saved. It applies immediately.`,
  })
  const save = form.onSubmit((values) => {
    const counts = takesLimit(values.mode)
    const input = {
      userId,
      featureId: values.featureId ?? '',
      mode: values.mode,
      limit: counts ? Number(values.limit) : null,
      overageEnabled: counts && values.overage !== 'packages' ? values.overage === 'yes' : null,
      resetPeriod: values.resetPeriod,
      expiresAt: values.expiresAt === '' ? null : expiryOf(values.expiresAt, override?.expiresAt ?? null),
      reason: values.reason.trim() === '' ? null : values.reason,
    }
    set.mutate({ appId, input }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={set.error} fields={fieldsOf(form)} />
        <Select
          label="Feature"
          placeholder="Choose a feature"
          searchable
          disabled={override !== null}
          data={features.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('featureId')}
          onChange={(id) => {
            form.setFieldValue('featureId', id)
            const type = features.find((feature) => feature.id === id)?.type
            if (type === 'BINARY' && mode !== 'DENY') form.setFieldValue('mode', 'GRANT')
          }}
        />
        <Select
          label="What it does"
          allowDeselect={false}
          data={MODES.filter(({ value }) => !binary || value === 'GRANT' || value === 'DENY')}
          {...form.getInputProps('mode')}
        />
        {takesLimit(mode) && (
          <>
            <NumberInput
              label={mode === 'ADD' ? 'How many more' : 'Limit'}
              min={0}
              allowDecimal={false}
              allowNegative={false}
              {...form.getInputProps('limit')}
            />
            <Select
              label="Overage"
              description="Whether usage may exceed the limit"
              allowDeselect={false}
              data={OVERAGE}
              {...form.getInputProps('overage')}
            />
          </>
        )}
        {!binary && mode !== 'DENY' && (
          <Select
            label="Resets"
            description="Only if none of the user's packages includes the feature"
            allowDeselect={false}
            data={[...RESET_PERIODS]}
            {...form.getInputProps('resetPeriod')}
          />
        )}
        <TextInput
          label="Until"
          description={`In your time zone (${timeZone}). Leave empty for no end date`}
          type="datetime-local"
          {...form.getInputProps('expiresAt')}
        />
        <Textarea
          label="Reason"
          description="A note for your team. The user never sees it"
          autosize
          maxLength={1024}
          {...form.getInputProps('reason')}
        />
        <FormActions submit="Save override" busy={set.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}

/** The input has minutes: an expiry that was not touched keeps its seconds. */
function expiryOf(minute: string, before: string | null): string {
  return before !== null && localMinute(before) === minute ? before : isoOfLocal(minute)
}
