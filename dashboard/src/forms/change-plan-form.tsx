import { Alert, List, NumberInput, Radio, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { moneyText, providerName } from '../ui/price.ts'
import { dateTimeOf } from '../ui/when.tsx'
import { FormActions } from './form-actions.tsx'
import { isPriced, NotCharged, useSellByLink } from './not-charged.tsx'
import { useUnsaved } from './unsaved.ts'

const PLANS = graphql(`
  query ChangeablePlans($appId: String!, $userId: String!) {
    packages(appId: $appId) {
      id name status isAddon archived prices { amount decimals currency interval }
    }
    subscriptions(appId: $appId, userId: $userId) { rows { status quantity package { id isAddon } } }
  }
`)
const PREVIEW = graphql(`
  query ChangePreview($appId: String!, $userId: String!, $packageId: String!, $when: ChangeTime, $quantity: Int) {
    changePreview(appId: $appId, userId: $userId, packageId: $packageId, when: $when, quantity: $quantity) {
      at now credit charge currency decimals quotedBy formula
      gains { featureId name } loses { featureId name }
      moreOverage { featureId name } lessOverage { featureId name }
    }
  }
`)
const CHANGE = graphql(`
  mutation ChangeSubscription(
    $appId: String!, $userId: String!, $packageId: String!, $when: ChangeTime, $quantity: Int
  ) {
    changeSubscription(appId: $appId, userId: $userId, packageId: $packageId, when: $when, quantity: $quantity) {
      at now to { name }
    }
  }
`)

type When = 'BEST' | 'NOW' | 'PERIOD_END'

interface ChangePlanFormProps {
  appId: string
  userId: string
  onDone: () => void
}

/** Changes a user's base plan or its quantity, after showing what that does. */
export function ChangePlanForm({ appId, userId, onDone }: ChangePlanFormProps) {
  const asked = useAsk(PLANS, { appId, userId })
  const current = asked.data?.subscriptions?.rows.find((s) => s.status === 'ACTIVE' && !s.package.isAddon)
  const plans = (asked.data?.packages ?? [])
    .filter((p) => p.status === 'PUBLISHED' && !p.isAddon && (!p.archived || p.id === current?.package.id))
    .map(({ id, name }) => ({ value: id, label: name }))
  const form = useForm({
    initialValues: { packageId: null as string | null, quantity: '' as number | '', when: 'BEST' as When },
    validate: { packageId: (id) => (id === null ? 'Choose a plan.' : null) },
  })
  const { packageId, when } = form.values
  const quantity = form.values.quantity === '' ? null : form.values.quantity
  const same = packageId === current?.package.id && (quantity ?? current?.quantity) === current?.quantity
  const preview = useAsk(
    PREVIEW,
    { appId, userId, packageId: packageId ?? '', when, quantity },
    { enabled: packageId !== null && !same },
  )
  const shown = preview.data?.changePreview ?? null
  const chosen = asked.data?.packages.find(({ id }) => id === packageId)
  const isUncharged = shown?.quotedBy === 'tollgate'
  const { saved } = useUnsaved(form)
  const link = useSellByLink(appId, userId, form)
  const change = useChange(CHANGE, {
    done: saved(onDone),
    said: ({ changeSubscription: made }) =>
      (made?.now
        ? `${made.to.name} is their plan now.`
        : `${made?.to.name} follows on ${dateTimeOf(made?.at ?? '')}.`) +
      (isUncharged && chosen && isPriced(chosen) ? ' Nothing is charged.' : ''),
  })
  if (link.instead) return link.instead
  const save = form.onSubmit(({ packageId, when }) => {
    if (packageId !== null) change.mutate({ appId, userId, packageId, when, quantity })
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={change.error ?? preview.error ?? asked.error} />
        <Select
          label="New plan"
          description="Add-ons stay"
          placeholder="Choose a plan"
          data={plans}
          searchable
          data-autofocus
          {...form.getInputProps('packageId')}
        />
        <NumberInput
          label="Quantity"
          description="Multiplies the limits of the plan"
          placeholder={String(current?.quantity ?? 1)}
          min={1}
          max={1_000_000}
          allowDecimal={false}
          {...form.getInputProps('quantity')}
        />
        <Radio.Group label="When" {...form.getInputProps('when')}>
          <Stack gap="xxs" mt="xxs">
            <Radio value="BEST" label="Now if it costs more, at the end of the period if it costs less" />
            <Radio value="NOW" label="Now" />
            <Radio value="PERIOD_END" label="At the end of the period" />
          </Stack>
        </Radio.Group>
        {isUncharged && !same && (
          <NotCharged appId={appId} packages={[chosen]} onSell={link.sell}>
            Changing the plan here grants it without charging.
          </NotCharged>
        )}
        {shown && !same && <Preview change={shown} />}
        <FormActions
          submit={shown && !shown.now ? 'Schedule the change' : 'Change now'}
          busy={change.isPending}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}

type Change = NonNullable<ResultOf<typeof PREVIEW>['changePreview']>

function Preview({ change }: { change: Change }) {
  const names = (features: Change['gains']) => features.map(({ name }) => name).join(', ')
  return (
    <Alert
      variant="light"
      title={change.now ? 'Takes effect now' : `Takes effect on ${dateTimeOf(change.at)}`}
    >
      <List size="sm">
        {change.gains.length > 0 && <List.Item>Can be used from then on: {names(change.gains)}</List.Item>}
        {change.loses.length > 0 && <List.Item>No longer: {names(change.loses)}</List.Item>}
        {change.moreOverage.length > 0 && (
          <List.Item>Into overage, or further into it: {names(change.moreOverage)}</List.Item>
        )}
        {change.lessOverage.length > 0 && (
          <List.Item>Out of overage, or less of it: {names(change.lessOverage)}</List.Item>
        )}
        {change.gains.length + change.loses.length === 0 && (
          <List.Item>No feature is gained or lost. Limits may change.</List.Item>
        )}
        <List.Item>{moneyOf(change)}</List.Item>
      </List>
      <Text size="xs" c="dimmed" mt="xxs">
        {change.formula}
      </Text>
    </Alert>
  )
}

function moneyOf({ credit, charge, currency, decimals, quotedBy }: Change): string {
  if (credit === null || charge === null || currency === null || decimals === null) return 'Not charged.'
  const money = (amount: number) => moneyText({ amount, currency, decimals })
  const amounts = `${money(charge)} to pay, ${money(credit)} given back`
  return quotedBy === 'tollgate'
    ? `Not charged. At list prices it would be ${amounts}.`
    : `${amounts}, charged by ${providerName(quotedBy)}.`
}
