import { NumberInput, Radio, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { number } from '../ui/number.ts'
import { priceText } from '../ui/price.ts'
import { dateTimeOf } from '../ui/when.tsx'
import { ChangePreview, PREVIEW } from './change-preview.tsx'
import { FormActions } from './form-actions.tsx'
import { isPriced, NotCharged, useSellByLink } from './not-charged.tsx'
import { useUnsaved } from './unsaved.ts'

const PLANS = graphql(`
  query ChangeablePlans($appId: String!, $userId: String!) {
    packages(appId: $appId) {
      id name status isAddon archived prices { id provider amount decimals currency interval }
    }
    subscriptions(appId: $appId, userId: $userId, state: LIVE) {
      rows {
        quantity package { id name isAddon }
        price { id provider amount decimals currency interval }
      }
    }
  }
`)
const CHANGE = graphql(`
  mutation ChangeSubscription(
    $appId: String!, $userId: String!, $packageId: String!, $when: ChangeTime, $quantity: Int, $priceId: String
  ) {
    changeSubscription(
      appId: $appId, userId: $userId, packageId: $packageId, when: $when, quantity: $quantity, priceId: $priceId
    ) {
      at now to { name }
    }
  }
`)
const UNDO = graphql(`
  mutation UndoScheduledChange($appId: String!, $userId: String!) {
    cancelScheduledChange(appId: $appId, userId: $userId) { id }
  }
`)

type When = 'BEST' | 'NOW' | 'PERIOD_END'
type Plans = ResultOf<typeof PLANS>
type Plan = Plans['packages'][number]
type Price = Plan['prices'][number]
type Current = NonNullable<Plans['subscriptions']>['rows'][number]

interface ChangePlanFormProps {
  appId: string
  userId: string
  userName: string
  /** `plan`: to another plan; `terms`: another quantity or price of the current one */
  what: 'plan' | 'terms'
  onDone: () => void
}

/** Changes a user's plan, its quantity or its price, after showing the effect on limits and money. */
export function ChangePlanForm({ appId, userId, userName, what, onDone }: ChangePlanFormProps) {
  const asked = useAsk(PLANS, { appId, userId })
  const current = asked.data?.subscriptions?.rows.find((s) => !s.package.isAddon)
  const form = useForm({
    initialValues: {
      packageId: null as string | null,
      quantity: '' as number | '',
      priceId: null as string | null,
      when: 'BEST' as When,
    },
    validate: {
      packageId: (id) => (what === 'plan' && id === null ? 'Choose a plan.' : null),
    },
  })
  const { when } = form.values
  const packageId = what === 'terms' ? (current?.package.id ?? null) : form.values.packageId
  const chosen = asked.data?.packages.find(({ id }) => id === packageId)
  const prices = pricesFor(chosen, current)
  const price = prices.find(({ id }) => id === form.values.priceId) ?? usualPrice(prices, current?.price)
  const isOtherPrice = current?.price != null && price !== undefined && price.id !== current.price.id
  const quantity = form.values.quantity === '' ? null : form.values.quantity
  const isSame = what === 'terms' && (quantity ?? current?.quantity) === current?.quantity && !isOtherPrice
  // Only a plan that a provider charges for has a price to choose.
  const priceId = isOtherPrice ? price.id : null
  const isReady = packageId !== null && current !== undefined && !isSame
  const variables = { appId, userId, packageId: packageId ?? '', when, quantity, priceId }
  const preview = useAsk(PREVIEW, variables, { enabled: isReady })
  const shown = isReady ? (preview.data?.changePreview ?? null) : null
  const isUncharged = shown?.quotedBy === 'tollgate'
  const { saved } = useUnsaved(form)
  const link = useSellByLink(appId, userId, form)
  const undo = useChange(UNDO, { said: `${userName} stays on ${current?.package.name ?? 'the plan'}.` })
  const change = useChange(CHANGE, {
    done: saved(onDone),
    // A change that has taken effect may have been charged.
    undo: ({ changeSubscription: made }) =>
      made && !made.now ? () => undo.mutate({ appId, userId }) : undefined,
    said: ({ changeSubscription: made }) =>
      (made?.now
        ? `${userName} is now on ${made.to.name}.`
        : `${userName} switches to ${made?.to.name} on ${dateTimeOf(made?.at ?? '')}.`) +
      (isUncharged && chosen && isPriced(chosen) ? ' Not charged.' : ''),
  })
  const { reset } = change
  const choice = JSON.stringify(variables)
  // A refusal of another choice says nothing about this one.
  useEffect(() => {
    if (choice) reset()
  }, [choice, reset])
  if (link.instead) return link.instead
  const save = form.onSubmit(() => {
    if (isReady) change.mutate(variables)
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={change.error ?? (isReady ? preview.error : null) ?? asked.error} />
        {current && <CurrentPlan {...current} />}
        {what === 'plan' && (
          <Select
            label="New plan"
            description="Add-ons are kept"
            placeholder={plansBeside(asked.data, current).length === 0 ? 'No other plan' : 'Choose a plan'}
            data={plansBeside(asked.data, current)}
            searchable
            data-autofocus
            {...form.getInputProps('packageId')}
          />
        )}
        <SimpleGrid cols={{ base: 1, xs: price && prices.length > 1 ? 2 : 1 }}>
          {price && prices.length > 1 && (
            <Select
              label="Price"
              description="Charged by the current provider"
              data={prices.map((one) => ({ value: one.id, label: priceText(one) }))}
              value={price.id}
              onChange={(id) => form.setFieldValue('priceId', id)}
              allowDeselect={false}
            />
          )}
          <NumberInput
            label="Quantity"
            description="Multiplies the limits of the plan"
            placeholder={String(current?.quantity ?? 1)}
            min={1}
            max={1_000_000}
            allowDecimal={false}
            {...form.getInputProps('quantity')}
          />
        </SimpleGrid>
        <Radio.Group label="When" {...form.getInputProps('when')}>
          <Stack gap="xxs" mt="xxs">
            <Radio value="BEST" label="Upgrades now, downgrades at the end of the period" />
            <Radio value="NOW" label="Now" />
            <Radio value="PERIOD_END" label="At the end of the period" />
          </Stack>
        </Radio.Group>
        {isUncharged && (
          <NotCharged appId={appId} packages={[chosen]} onSell={link.sell}>
            Changing the plan here does not charge the user.
          </NotCharged>
        )}
        {shown && <ChangePreview change={shown} />}
        <FormActions
          submit={shown && !shown.now ? 'Schedule change' : 'Change now'}
          busy={change.isPending}
          disabled={isSame}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}

/** The plans that the user can be moved to. */
const plansBeside = (plans: Plans | undefined, current: Current | undefined) =>
  (plans?.packages ?? [])
    .filter((p) => p.status === 'PUBLISHED' && !p.isAddon && !p.archived && p.id !== current?.package.id)
    .map(({ id, name }) => ({ value: id, label: name }))

/** The prices that the current provider can charge on the same bill. */
function pricesFor(plan: Plan | undefined, current: Current | undefined): Price[] {
  const now = current?.price
  if (!plan || !now || now.interval === null) return []
  const usable = plan.prices.filter(
    ({ provider, currency, interval }) =>
      provider === now.provider && currency === now.currency && interval !== null,
  )
  // The current price may be archived; it can be kept.
  return plan.id === current.package.id && usable.every(({ id }) => id !== now.id) ? [now, ...usable] : usable
}

const usualPrice = (prices: readonly Price[], now: Price | null | undefined): Price | undefined =>
  prices.find(({ id }) => id === now?.id) ??
  prices.findLast(({ interval }) => interval === now?.interval) ??
  prices.at(-1)

function CurrentPlan({ package: { name }, quantity, price }: Current) {
  return (
    <Text size="sm">
      Current plan:{' '}
      <Text span fw={600} inherit>
        {name}
        {quantity > 1 && ` × ${number(quantity)}`}
      </Text>
      {price ? `, ${priceText(price)}` : ', not charged'}
    </Text>
  )
}
