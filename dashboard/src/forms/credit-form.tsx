import { NumberInput, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import type { CatalogueFeature } from '../grants.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { units } from '../ui/number.ts'
import { FormActions } from './form-actions.tsx'
import { isoOfLocal, timeZone } from './local-time.ts'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const ADD = graphql(`
  mutation AddCredit($appId: String!, $input: CreditInput!) {
    addCredit(appId: $appId, input: $input) { id }
  }
`)

const KINDS = [
  { value: 'PROMOTIONAL', label: 'Promotional' },
  { value: 'PAID', label: 'Paid' },
] as const
type Kind = (typeof KINDS)[number]['value']

interface CreditFormProps {
  appId: string
  userId: string
  /** consumable ones */
  features: readonly CatalogueFeature[]
  onDone: () => void
}

export function CreditForm({ appId, userId, features, onDone }: CreditFormProps) {
  const form = useForm({
    initialValues: {
      featureId: (features.length === 1 ? (features[0]?.id ?? null) : null) as string | null,
      amount: '' as number | string,
      kind: 'PROMOTIONAL' as Kind,
      priority: 50 as number | string,
      expiresAt: '',
      reason: '',
    },
    validate: {
      featureId: required('The feature'),
      amount: (amount) => (amount === '' ? 'The amount is missing.' : null),
      priority: (priority) => (priority === '' ? 'The priority is missing.' : null),
    },
  })
  const { saved } = useUnsaved(form)
  const { featureId, amount, kind, priority, expiresAt } = form.values
  const chosen = features.find(({ id }) => id === featureId)
  const add = useChange(ADD, {
    done: saved(onDone),
    said: (_, { input }) =>
      `Credit of ${units(input.amount, chosen?.unitLabel, chosen?.unitLabelPlural)} added. It can be used immediately.`,
  })
  const save = form.onSubmit((values) => {
    const input = {
      userId,
      featureId: values.featureId ?? '',
      amount: Number(values.amount),
      kind: values.kind,
      priority: Number(values.priority),
      expiresAt: values.expiresAt === '' ? null : isoOfLocal(values.expiresAt),
      reason: values.reason.trim() === '' ? null : values.reason,
    }
    add.mutate({ appId, input }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={add.error} fields={fieldsOf(form)} />
        <Select
          label="Feature"
          placeholder="Choose a feature"
          searchable
          allowDeselect={false}
          data={features.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('featureId')}
        />
        <NumberInput
          label="Amount"
          min={1}
          allowDecimal={false}
          allowNegative={false}
          {...form.getInputProps('amount')}
        />
        <Select label="Kind" allowDeselect={false} data={[...KINDS]} {...form.getInputProps('kind')} />
        <NumberInput
          label="Priority"
          description="Lower numbers are used first. The plan has 50. At equal priority and expiry: promotional credits, the plan, paid credits"
          min={0}
          max={1000}
          allowDecimal={false}
          allowNegative={false}
          {...form.getInputProps('priority')}
        />
        <TextInput
          label="Expires"
          description={`In your time zone (${timeZone}). Leave empty for no expiry`}
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
        {chosen && amount !== '' && (
          <Text size="sm" c="dimmed">
            Adds {units(Number(amount), chosen.unitLabel, chosen.unitLabelPlural)} of {chosen.name},{' '}
            {kind === 'PAID' ? 'paid' : 'promotional'}, with priority {priority},{' '}
            {expiresAt === '' ? 'without an expiry' : 'until it expires'}.
          </Text>
        )}
        <FormActions submit="Add the credit" busy={add.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
