import { NumberInput, Select, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { unitWord } from '../ui/number.ts'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const SAVE = graphql(`
  mutation SaveCosts($appId: String!, $id: String!, $costs: [CostInput!]!, $version: String) {
    updateFeature(appId: $appId, id: $id, input: { costs: $costs }, expectedVersion: $version) { id }
  }
`)

interface CostFormProps {
  appId: string
  pool: {
    id: string
    name: string
    unitLabel: string | null
    unitLabelPlural: string | null
    version: string
    costs: readonly { featureId: string; cost: number }[]
  }
  /** the one that is changed; null: a new one */
  cost: { featureId: string; cost: number } | null
  /** the features to choose from */
  features: readonly { id: string; name: string }[]
  onDone: () => void
}

/** Cost of one unit of a feature in units of a pool. */
export function CostForm({ appId, pool, cost, features, onDone }: CostFormProps) {
  // From when the form was filled: changes that arrive while typing must not count as seen.
  const [seen] = useState(pool)
  const form = useForm({
    initialValues: {
      featureId:
        cost?.featureId ?? ((features.length === 1 ? (features[0]?.id ?? null) : null) as string | null),
      cost: (cost?.cost ?? '') as number | string,
    },
    validate: {
      featureId: required('The feature'),
      cost: (value) => (value === '' ? 'The cost is missing.' : null),
    },
  })
  const { saved } = useUnsaved(form)
  const save = useChange(SAVE, { done: saved(onDone), said: 'Cost saved. It applies immediately.' })
  const submit = form.onSubmit(({ featureId, cost: value }) => {
    const made = { featureId: featureId ?? '', cost: Number(value) }
    const before = seen.costs.map((one) => ({ featureId: one.featureId, cost: one.cost }))
    const costs = cost
      ? before.map((one) => (one.featureId === cost.featureId ? made : one))
      : [...before, made]
    save.mutate({ appId, id: seen.id, costs, version: seen.version }, ontoFields(form))
  })
  const word = unitWord(2, pool.unitLabel, pool.unitLabelPlural)
  return (
    <form noValidate onSubmit={submit}>
      <Stack>
        <FormAlert error={save.error} fields={fieldsOf(form)} />
        <Select
          label="Feature"
          placeholder="Choose a feature"
          searchable
          allowDeselect={false}
          disabled={cost !== null}
          data={features.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('featureId')}
        />
        <NumberInput
          label="Cost of a unit"
          description={`In ${word === '' ? `units of ${pool.name}` : word}`}
          min={1}
          max={MAX_COST}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
          {...form.getInputProps('cost')}
        />
        <FormActions submit={cost ? 'Save cost' : 'Add feature'} busy={save.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}

/** As the server has it. */
const MAX_COST = 1_000_000
