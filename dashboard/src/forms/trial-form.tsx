import { Checkbox, NumberInput, Select, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { dateOf } from '../ui/when.tsx'
import { FormActions } from './form-actions.tsx'
import { NotCharged, useSellByLink } from './not-charged.tsx'
import { useUnsaved } from './unsaved.ts'

const PACKAGES = graphql(`
  query TriablePackages($appId: String!) {
    packages(appId: $appId) {
      id name status isAddon archived prices { amount decimals currency interval }
    }
  }
`)
const START = graphql(`
  mutation StartTrial(
    $appId: String!, $userId: String!, $packageId: String!, $days: Int, $next: String, $again: Boolean
  ) {
    startTrial(appId: $appId, userId: $userId, packageId: $packageId, days: $days, then: $next, again: $again) {
      id trialEndsAt
    }
  }
`)

interface TrialFormProps {
  appId: string
  userId: string
  userName: string
  onDone: () => void
}

export function TrialForm({ appId, userId, userName, onDone }: TrialFormProps) {
  const asked = useAsk(PACKAGES, { appId })
  const published = (asked.data?.packages ?? []).filter(
    ({ status, archived }) => status === 'PUBLISHED' && !archived,
  )
  const form = useForm({
    initialValues: {
      packageId: null as string | null,
      days: 14 as number | string,
      next: null as string | null,
      again: false,
    },
    validate: {
      packageId: (id) => (id === null ? 'Choose a plan or add-on.' : null),
      days: (days) => (typeof days === 'number' && days >= 1 ? null : 'At least one day.'),
    },
  })
  const tried = published.find(({ id }) => id === form.values.packageId)
  const followers = published.filter(({ isAddon }) => isAddon === (tried?.isAddon ?? false))
  const next = followers.find(({ id }) => id === form.values.next)
  const { saved } = useUnsaved(form)
  const link = useSellByLink(appId, userId, form)
  const start = useChange(START, {
    done: saved(onDone),
    said: ({ startTrial }, { packageId }) =>
      `Trial of ${published.find(({ id }) => id === packageId)?.name ?? packageId} started for ${userName}. It ends on ${dateOf(startTrial?.trialEndsAt ?? '')}.`,
    next: ({ startTrial: made }) =>
      made
        ? {
            label: 'View subscription',
            to: { to: '/apps/$app/subscriptions/$id', params: { app: appId, id: made.id } },
          }
        : undefined,
  })
  const save = form.onSubmit(({ packageId, days, next, again }) => {
    if (packageId !== null) start.mutate({ appId, userId, packageId, days: Number(days), next, again })
  })
  if (link.instead) return link.instead
  const choices = (of: typeof published) => of.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={start.error ?? asked.error} />
        <Select
          label="Plan or add-on"
          description="A plan replaces the current one, unless that one is billed"
          placeholder="Choose a plan or add-on"
          data={choices(published)}
          searchable
          data-autofocus
          {...form.getInputProps('packageId')}
        />
        <NumberInput label="Days" min={1} max={730} allowDecimal={false} {...form.getInputProps('days')} />
        <Select
          label="After the trial"
          description="Starts when the trial ends"
          placeholder="No plan"
          data={choices(followers)}
          searchable
          clearable
          {...form.getInputProps('next')}
        />
        <Checkbox
          label="Allow a second trial of the same plan"
          {...form.getInputProps('again', { type: 'checkbox' })}
        />
        <NotCharged appId={appId} packages={[next]} onSell={link.sell}>
          When the trial ends, the plan starts without a charge.
        </NotCharged>
        <FormActions submit="Start trial" busy={start.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
