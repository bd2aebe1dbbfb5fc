import { Group, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { units } from '../ui/number.ts'
import { FormActions } from './form-actions.tsx'
import { MetadataInput, metadataOf, metadataProblem, metadataText } from './metadata-input.tsx'
import { NameInput } from './name-input.tsx'
import { fieldsOf, idProblem, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CREATE = graphql(`
  mutation CreateFeature($appId: String!, $input: CreateFeatureInput!) {
    createFeature(appId: $appId, input: $input) { id }
  }
`)
const UPDATE = graphql(`
  mutation UpdateFeature($appId: String!, $id: String!, $input: UpdateFeatureInput!, $version: String) {
    updateFeature(appId: $appId, id: $id, input: $input, expectedVersion: $version) { id }
  }
`)

interface EditedFeature {
  id: string
  name: string
  type: 'BINARY' | 'CONSUMABLE'
  unitLabel: string | null
  unitLabelPlural: string | null
  metadata: Record<string, unknown>
  thresholds: number[]
  version: string
}

interface FeatureFormProps {
  appId: string
  /** null: a new one */
  feature: EditedFeature | null
  /** `created`: the id of the new feature */
  onDone: (created?: string) => void
}

export function FeatureForm({ appId, feature, onDone }: FeatureFormProps) {
  const may = useMay()
  // From when the form was filled: changes that arrive while typing must not count as seen.
  const [seen] = useState(feature?.version ?? null)
  const form = useForm({
    initialValues: {
      name: feature?.name ?? '',
      id: feature?.id ?? '',
      type: feature?.type ?? 'CONSUMABLE',
      unitLabel: feature?.unitLabel ?? '',
      unitLabelPlural: feature?.unitLabelPlural ?? '',
      thresholds: (feature?.thresholds ?? USUAL_THRESHOLDS).join(', '),
      metadata: metadataText(feature?.metadata ?? {}),
    },
    validate: {
      name: required('The name'),
      id: idProblem,
      thresholds: thresholdsProblem,
      metadata: metadataProblem,
    },
  })
  const { unitLabel: unit, unitLabelPlural: plural } = form.values
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, {
    done: saved(({ createFeature }) => onDone(createFeature?.id)),
    said: (_, { input }) => `${input.name ?? input.id} created.`,
    next: { label: 'Add it to a package', to: { to: '/apps/$app/packages', params: { app: appId } } },
  })
  const update = useChange(UPDATE, {
    done: saved(() => onDone()),
    said: (_, { input }) => `${input.name ?? feature?.name} saved.`,
  })
  const save = form.onSubmit(({ id, type, name, unitLabel, unitLabelPlural, thresholds, metadata }) => {
    const input = {
      name,
      unitLabel: unitLabel || null,
      unitLabelPlural: unitLabelPlural || null,
      metadata: metadataOf(metadata),
      // Unchanged ones are not sent: a feature without its own follows the default.
      ...(form.isDirty('thresholds') && { thresholds: thresholdsOf(thresholds) }),
    }
    if (feature) update.mutate({ appId, id, input, version: seen }, ontoFields(form))
    else create.mutate({ appId, input: { id, type, ...input } }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error ?? update.error} fields={fieldsOf(form)} />
        <NameInput form={form} placeholder="API calls" proposesId={!feature} />
        <TextInput
          label="Id"
          description={
            feature
              ? 'Your code refers to it, so it cannot be changed'
              : 'Your code refers to it. It cannot be changed later'
          }
          placeholder="api-calls"
          readOnly={feature !== null}
          {...form.getInputProps('id')}
        />
        <Radio.Group label="Type" {...form.getInputProps('type')}>
          <Stack gap="xs" mt="xs">
            <Radio
              value="CONSUMABLE"
              label="Consumable"
              description="Counted against a limit: calls, seats, gigabytes"
              disabled={feature !== null}
            />
            <Radio
              value="BINARY"
              label="Binary"
              description="Access or no access: single sign-on, dark mode"
              disabled={feature !== null}
            />
          </Stack>
        </Radio.Group>
        {form.values.type === 'CONSUMABLE' && (
          <div>
            <Group grow align="flex-start">
              <TextInput label="Unit (singular)" placeholder="call" {...form.getInputProps('unitLabel')} />
              <TextInput
                label="Unit (plural)"
                placeholder="calls"
                {...form.getInputProps('unitLabelPlural')}
              />
            </Group>
            {(unit || plural) && (
              <Text size="xs" c="dimmed" mt="xxs">
                Amounts are shown as “{units(1, unit, plural)}” and “{units(5, unit, plural)}”.
              </Text>
            )}
          </div>
        )}
        {form.values.type === 'CONSUMABLE' && (
          <TextInput
            label="Usage thresholds in percent"
            description="Sends an event when usage reaches these shares of the limit. Leave empty for none"
            placeholder="80, 100"
            {...form.getInputProps('thresholds')}
          />
        )}
        <MetadataInput {...form.getInputProps('metadata')} />
        <FormActions
          submit={feature ? 'Save' : 'Create feature'}
          busy={create.isPending || update.isPending}
          disabled={!may(feature ? 'updateFeature' : 'createFeature')}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}

const USUAL_THRESHOLDS = [80, 100]

const thresholdsOf = (text: string): number[] =>
  text
    .split(/[\s,;%]+/)
    .filter((part) => part !== '')
    .map(Number)

const thresholdsProblem = (text: string): string | null =>
  thresholdsOf(text).every((one) => Number.isInteger(one) && one >= 1 && one <= 1_000)
    ? null
    : 'Thresholds are whole percentages from 1 to 1,000, separated by commas.'
