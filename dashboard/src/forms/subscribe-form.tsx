import { MultiSelect, Select, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { isPriced, NotCharged, useSellByLink } from './not-charged.tsx'
import { useUnsaved } from './unsaved.ts'

const PUBLISHED = graphql(`
  query SubscribablePackages($appId: String!) {
    packages(appId: $appId) {
      id name status isAddon archived prices { amount decimals currency interval }
    }
  }
`)
const SUBSCRIBE = graphql(`
  mutation Subscribe($appId: String!, $userId: String!, $packageIds: [String!]!) {
    subscribe(appId: $appId, userId: $userId, packageIds: $packageIds) { id }
  }
`)

interface SubscribeFormProps {
  appId: string
  userId: string
  userName: string
  /** A user with a plan can only take add-ons. */
  hasPlan?: boolean
  onDone: () => void
}

export function SubscribeForm({ appId, userId, userName, hasPlan = false, onDone }: SubscribeFormProps) {
  const asked = useAsk(PUBLISHED, { appId })
  const packages = asked.data?.packages ?? []
  const published = packages.filter(({ status, archived }) => status === 'PUBLISHED' && !archived)
  const choices = (isAddon: boolean) =>
    published.filter((p) => p.isAddon === isAddon).map(({ id, name }) => ({ value: id, label: name }))
  const form = useForm({
    initialValues: { base: null as string | null, addons: [] as string[] },
    validate: {
      base: (base, { addons }) =>
        base === null && addons.length === 0 ? (hasPlan ? 'Choose an add-on.' : 'Choose a plan.') : null,
    },
  })
  const { saved } = useUnsaved(form)
  const link = useSellByLink(appId, userId, form)
  const { base, addons } = form.values
  const chosen = published.filter(({ id }) => id === base || addons.includes(id))
  const subscribe = useChange(SUBSCRIBE, {
    done: saved(onDone),
    said: `${userName} is subscribed to ${chosen.map(({ name }) => name).join(', ')}.${chosen.some(isPriced) ? ' Not charged.' : ''}`,
    next: ({ subscribe: made }) =>
      made?.[0] && {
        label: 'View subscription',
        to: { to: '/apps/$app/subscriptions/$id', params: { app: appId, id: made[0].id } },
      },
  })
  if (link.instead) return link.instead
  const save = form.onSubmit(({ base, addons }) =>
    subscribe.mutate({ appId, userId, packageIds: base === null ? addons : [base, ...addons] }),
  )
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={subscribe.error ?? asked.error} />
        {!hasPlan && (
          <Select
            label="Plan"
            description="A user has one at a time"
            placeholder={choices(false).length === 0 ? 'Publish a plan first' : 'Choose a plan'}
            data={choices(false)}
            searchable
            clearable
            data-autofocus
            {...form.getInputProps('base')}
          />
        )}
        {(hasPlan || choices(true).length > 0) && (
          <MultiSelect
            label="Add-ons"
            description={hasPlan ? 'Added to the current plan' : 'Added to the plan'}
            placeholder={choices(true).length === 0 ? 'No published add-on' : undefined}
            data={choices(true)}
            searchable
            {...form.getInputProps('addons')}
            error={form.errors.addons ?? (hasPlan ? form.errors.base : undefined)}
          />
        )}
        <NotCharged appId={appId} packages={chosen} onSell={link.sell}>
          Subscribing the user here does not charge them.
        </NotCharged>
        <FormActions submit="Subscribe" busy={subscribe.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
