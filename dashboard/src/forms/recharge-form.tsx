import { Divider, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import type { CatalogueFeature } from '../grants.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { units } from '../ui/number.ts'
import { decimalText, type Money, moneyText } from '../ui/price.ts'
import { UnitsInput } from '../ui/units-input.tsx'
import { typedAmount } from './amount.ts'
import { CreditLinkForm } from './credit-link-form.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { SavedCard, useSavedCard } from './saved-card.tsx'
import { useUnsaved } from './unsaved.ts'

const PREVIEW = graphql(`
  query AutoRechargePreview($appId: String!, $input: AutoRechargeInput!) {
    autoRechargePreview(appId: $appId, input: $input) { balance packs amount reason }
  }
`)
type Preview = NonNullable<ResultOf<typeof PREVIEW>['autoRechargePreview']>
const SET = graphql(`
  mutation SetAutoRecharge($appId: String!, $input: AutoRechargeInput!) {
    setAutoRecharge(appId: $appId, input: $input) { state }
  }
`)

/** A price of credits. */
export interface CreditPack extends Money {
  id: string
  provider: string
  featureId: string
  units: number
  expiresDays: number | null
}

interface Rule {
  featureId: string
  below: number
  upTo: number
  priceId: string
  maxSpendPerPeriod: number | null
  state: 'ON' | 'CHARGING' | 'WAITING' | 'OFF'
}

interface RechargeFormProps {
  appId: string
  userId: string
  features: readonly CatalogueFeature[]
  /** that can be bought */
  prices: readonly CreditPack[]
  /** ids of features that have an automatic recharge */
  taken: readonly string[]
  /** the one that is changed; null: a new one */
  recharge: Rule | null
  onDone: () => void
}

/** Sets an automatic recharge of a user, after saying what it charges at once. */
export function RechargeForm(props: RechargeFormProps) {
  const { appId, features, prices, taken, recharge } = props
  const sold = features.filter(
    ({ id }) =>
      prices.some(({ featureId }) => featureId === id) &&
      (recharge ? id === recharge.featureId : !taken.includes(id)),
  )
  if (sold.length > 0) return <Fields {...props} features={sold} />
  return (
    <Text size="sm">
      {taken.length > 0 && !recharge
        ? 'Every feature with credits for sale has an automatic recharge. '
        : 'No credits are for sale. '}
      Add a price under Prices on the page of a consumable{' '}
      <AnchorLink to="/apps/$app/features" params={{ app: appId }} underline="always" size="sm">
        feature
      </AnchorLink>
      .
    </Text>
  )
}

function Fields({ appId, userId, features, prices, recharge, onDone }: RechargeFormProps) {
  const packsOf = (id: string | null) => prices.filter(({ featureId }) => featureId === id)
  const packOf = (id: string | null) => prices.find((price) => price.id === id)
  const first = recharge?.featureId ?? (features.length === 1 ? (features[0]?.id ?? null) : null)
  const kept = packOf(recharge?.priceId ?? null) ?? packsOf(first)[0]
  const maximum = recharge?.maxSpendPerPeriod ?? null
  const form = useForm({
    initialValues: {
      featureId: first,
      priceId: kept?.id ?? null,
      below: (recharge?.below ?? '') as number | string,
      upTo: (recharge?.upTo ?? '') as number | string,
      maxSpendPerPeriod: maximum !== null && kept ? decimalText(maximum, kept.decimals) : '',
    },
    validate: {
      featureId: required('The feature'),
      priceId: required('The price'),
      below: (below) => (Number(below) >= 1 ? null : 'The number of units is missing.'),
      upTo: (upTo, { below }) =>
        upTo === ''
          ? 'The number of units is missing.'
          : Number(upTo) < Number(below)
            ? 'This must be at least the number above.'
            : null,
      maxSpendPerPeriod: (text, { priceId }): string | null => maximumIn(text, packOf(priceId)).problem,
    },
  })
  const { saved } = useUnsaved(form)
  const { featureId, priceId, below, upTo, maxSpendPerPeriod } = form.values
  const feature = features.find(({ id }) => id === featureId)
  const pack = packOf(priceId)
  const input = {
    userId,
    featureId: featureId ?? '',
    priceId: priceId ?? '',
    below: Number(below),
    upTo: Number(upTo),
    maxSpendPerPeriod: maximumIn(maxSpendPerPeriod, pack).amount,
  }
  const card = useSavedCard(appId, userId, pack?.provider)
  const [asked] = useDebouncedValue(input, 150)
  const isComplete = pack !== undefined && input.below >= 1 && input.upTo >= input.below
  const isCurrent = JSON.stringify(asked) === JSON.stringify(input)
  const preview = useAsk(PREVIEW, { appId, input: asked }, { enabled: isComplete && isCurrent })
  const now = isCurrent ? preview.data?.autoRechargePreview : undefined
  const money = (amount: number) => (pack ? moneyText({ ...pack, amount }) : '')
  const charge = now && now.amount > 0 ? ` and charge ${money(now.amount)}` : ''
  const set = useChange(SET, { done: saved(onDone), said: 'Automatic recharge saved.' })
  const chooseFeature = (id: string | null) => {
    form.setFieldValue('featureId', id)
    form.setFieldValue('priceId', packsOf(id)[0]?.id ?? null)
  }
  const save = form.onSubmit(() => set.mutate({ appId, input }, ontoFields(form)))
  return (
    <Stack>
      <form noValidate onSubmit={save}>
        <Stack>
          <FormAlert error={set.error} fields={fieldsOf(form)} />
          <Select
            label="Feature"
            placeholder="Choose a feature"
            searchable
            allowDeselect={false}
            disabled={recharge !== null}
            data={features.map(({ id, name }) => ({ value: id, label: name }))}
            {...form.getInputProps('featureId')}
            onChange={chooseFeature}
          />
          {featureId !== null && (
            <Select
              label="Pack"
              description="Bought in whole packs, as many as are needed"
              allowDeselect={false}
              data={packsOf(featureId).map((each) => ({
                value: each.id,
                label: `${units(each.units, feature?.unitLabel, feature?.unitLabelPlural)} · ${moneyText(each)}`,
              }))}
              {...form.getInputProps('priceId')}
            />
          )}
          <UnitsInput label="Buy when fewer units are left than" {...form.getInputProps('below')} />
          <UnitsInput label="Buy up to" {...form.getInputProps('upTo')} />
          <TextInput
            label={`At most per month${pack ? ` in ${pack.currency.toUpperCase()}` : ''}`}
            description="Months of the UTC calendar. Leave empty for no limit"
            inputMode="decimal"
            autoComplete="off"
            {...form.getInputProps('maxSpendPerPeriod')}
          />
          <div aria-live="polite">
            {now && pack && <Consequences now={now} pack={pack} feature={feature} money={money} />}
          </div>
          {pack && <SavedCard card={card} provider={pack.provider} />}
          <FormActions
            submit={`${recharge?.state === 'OFF' ? 'Turn on' : 'Save'}${charge}`}
            busy={set.isPending}
            disabled={isComplete && (!isCurrent || preview.isLoading)}
            onCancel={onDone}
          />
        </Stack>
      </form>
      {pack && card === 'none' && (
        <>
          <Divider label="Payment link that saves the card" labelPosition="left" />
          <CreditLinkForm
            key={pack.id}
            appId={appId}
            userId={userId}
            price={{ ...pack, featureName: feature?.name ?? pack.featureId }}
            saveCard
          />
        </>
      )}
    </Stack>
  )
}

/** Null: no limit, or a problem. */
function maximumIn(text: string, pack: CreditPack | undefined) {
  if (text.trim() === '' || !pack) return { amount: null, problem: null }
  const { amount, problem } = typedAmount(
    text,
    { code: pack.currency, decimals: pack.decimals, step: 1 },
    navigator.language,
  )
  return amount === 0
    ? { amount: null, problem: 'Enter an amount above 0, or leave empty.' }
    : { amount, problem }
}

interface ConsequencesProps {
  now: Preview
  pack: CreditPack
  feature: CatalogueFeature | undefined
  money: (amount: number) => string
}

/** What saving charges. */
function Consequences({ now: { balance, packs, amount, reason }, pack, feature, money }: ConsequencesProps) {
  const unitsOf = (count: number) => units(count, feature?.unitLabel, feature?.unitLabelPlural)
  const left = `${unitsOf(balance)} left.`
  if (amount > 0)
    return (
      <Text size="sm">
        <b>
          Charges {money(amount)} now: {packs === 1 ? '1 pack' : `${packs} packs`} of {unitsOf(pack.units)}.
        </b>{' '}
        {left}
      </Text>
    )
  return (
    <Text size="sm" c="dimmed">
      Charges nothing now. {reason ?? ''} {left}
    </Text>
  )
}
