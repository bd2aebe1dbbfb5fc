import { Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import type { CatalogueFeature } from '../grants.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { number } from '../ui/number.ts'
import { UnitsInput } from '../ui/units-input.tsx'
import { When } from '../ui/when.tsx'
import { REMOVE_CAP, SET_CAP, type UserCap } from './cap-changes.ts'
import { CAP_WINDOWS } from './cap-fields.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const PREVIEW = graphql(`
  query CapPreview(
    $appId: String!, $userId: String!, $featureId: String!, $entity: String, $period: ResetPeriod!
  ) {
    capPreview(appId: $appId, userId: $userId, featureId: $featureId, entity: $entity, period: $period) {
      limit planLimit used reserved resetsAt
    }
  }
`)
type Preview = NonNullable<ResultOf<typeof PREVIEW>['capPreview']>

interface CapFormProps {
  appId: string
  userId: string
  /** consumable ones */
  features: readonly CatalogueFeature[]
  /** the one that is changed; null: a new one */
  cap: UserCap | null
  onDone: () => void
}

const isEntity = (text: string) => /^[^:]+:./.test(text.trim())

/** Sets a cap of a user, after showing what it does to the current window. */
export function CapForm({ appId, userId, features, cap, onDone }: CapFormProps) {
  const form = useForm({
    initialValues: {
      featureId: cap?.featureId ?? (features.length === 1 ? (features[0]?.id ?? null) : null),
      of: cap?.entity ? 'ENTITY' : 'USER',
      entity: cap?.entity ?? '',
      limit: (cap?.limit ?? '') as number | string,
      period: cap?.period ?? ('DAY' as UserCap['period']),
    },
    validate: {
      featureId: required('The feature'),
      limit: (limit) => (limit === '' ? 'The limit is missing.' : null),
      entity: (entity, { of }) =>
        of === 'USER' || isEntity(entity) ? null : 'An entity has the form type:id, for example agent:42.',
    },
  })
  const { saved } = useUnsaved(form)
  const { featureId, of, limit, period } = form.values
  const entity = of === 'ENTITY' ? form.values.entity.trim() : null
  const [asked] = useDebouncedValue({ featureId: featureId ?? '', entity, period }, 150)
  const preview = useAsk(
    PREVIEW,
    { appId, userId, ...asked },
    { enabled: asked.featureId !== '' && (asked.entity === null || isEntity(asked.entity)) },
  )
  const before = preview.data?.capPreview
  const takeBack = useChange(REMOVE_CAP, { said: 'Cap removed.' })
  const restore = useChange(SET_CAP, { said: 'Cap changed back.' })
  const set = useChange(SET_CAP, {
    done: saved(onDone),
    said: (_, { input: { featureId } }) =>
      `Cap of ${features.find(({ id }) => id === featureId)?.name ?? featureId} set. It applies immediately.`,
    undo: (_, { input }) => {
      const { limit: earlier } = before ?? { limit: null }
      const { limit, ...of } = input
      if (earlier === null) return () => takeBack.mutate({ appId, ...of, entity: of.entity ?? null })
      return () => restore.mutate({ appId, input: { ...input, limit: earlier } })
    },
  })
  const save = form.onSubmit((values) => {
    const input = { userId, featureId: values.featureId ?? '', entity, limit: Number(values.limit), period }
    set.mutate({ appId, input }, ontoFields(form))
  })
  const isCurrent = asked.featureId === featureId && asked.entity === entity && asked.period === period
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={set.error} fields={fieldsOf(form)} />
        <Select
          label="Feature"
          placeholder="Choose a feature"
          searchable
          allowDeselect={false}
          disabled={cap !== null}
          data={features.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('featureId')}
        />
        {cap === null && (
          <Radio.Group label="Limits" {...form.getInputProps('of')}>
            <Stack gap="xs" mt="xxs">
              <Radio value="USER" label="All usage of this user" />
              <Radio value="ENTITY" label="Usage of one entity, such as a team or an agent" />
            </Stack>
          </Radio.Group>
        )}
        {of === 'ENTITY' && (
          <TextInput
            label="Entity"
            description="As calls name it: type:id"
            placeholder="agent:42"
            disabled={cap !== null}
            {...form.getInputProps('entity')}
          />
        )}
        <UnitsInput label="At most" {...form.getInputProps('limit')} />
        <Select
          label="Per"
          description="In the UTC calendar"
          allowDeselect={false}
          disabled={cap !== null}
          data={CAP_WINDOWS}
          {...form.getInputProps('period')}
        />
        <div aria-live="polite">
          {before && isCurrent && limit !== '' && <Consequences before={before} limit={Number(limit)} />}
        </div>
        <FormActions
          submit="Set the cap"
          busy={set.isPending}
          disabled={featureId !== null && preview.isLoading}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}

/** What a cap does to the current window. */
function Consequences({ before, limit }: { before: Preview; limit: number }) {
  const { used, reserved, resetsAt } = before
  const left = Math.max(0, limit - used - reserved)
  const until = resetsAt && (
    <>
      {' '}
      until <When at={resetsAt} time />
    </>
  )
  return (
    <Text size="sm" {...(left > 0 && { c: 'dimmed' })}>
      {replaces(before, limit)} {number(used)} used
      {reserved > 0 && <> and {number(reserved)} reserved</>} in the current window:{' '}
      {left > 0 ? (
        <>
          {number(left)} left{until}.
        </>
      ) : (
        <b>further usage is refused{until}.</b>
      )}
    </Text>
  )
}

function replaces({ limit: own, planLimit }: Preview, limit: number): string {
  if (own !== null) return own === limit ? 'The cap stays as it is.' : `Replaces the limit of ${number(own)}.`
  if (planLimit !== null) return `Replaces the plan's cap of ${number(planLimit)} for this user.`
  return 'Counts usage from now on.'
}
