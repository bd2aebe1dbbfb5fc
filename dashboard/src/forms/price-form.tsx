import { Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { priceText, providerName } from '../ui/price.ts'
import { symbolOf, typedAmount } from './amount.ts'
import { ConfirmPrice } from './confirm-price.tsx'
import { CreditSaleFields, creditChecks, NO_CREDITS, type Sells, soldBy } from './credit-sale-fields.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CURRENCIES = graphql(`
  query Currencies($provider: String!) {
    currencies(provider: $provider) { code decimals step }
  }
`)
const CREATE = graphql(`
  mutation CreatePrice($appId: String!, $packageId: String, $input: CreatePriceInput!) {
    createPrice(appId: $appId, packageId: $packageId, input: $input) { id }
  }
`)

interface PriceFormProps {
  appId: string
  sells: Sells
  providers: { provider: string; livemode: boolean | null }[]
  /** what the newest price is in */
  currency: string
  onDone: () => void
}

export function PriceForm({ appId, sells, providers, currency, onDone }: PriceFormProps) {
  const [reviewing, setReviewing] = useState(false)
  const form = useForm({
    initialValues: {
      provider: providers[0]?.provider ?? 'sandbox',
      amount: '',
      currency,
      interval: 'feature' in sells ? 'once' : 'month',
      id: '',
      ...NO_CREDITS,
    },
    validate: {
      ...creditChecks(sells),
      amount: (_, values): string | null => read(values).problem,
      currency: (value): string | null => (isKnown(value) ? null : 'Choose a currency.'),
      id: (value, { provider }) =>
        provider !== 'sandbox' && value.trim() === ''
          ? `The price's id at ${providerName(provider)} is missing.`
          : null,
    },
  })
  const { saved } = useUnsaved(form)
  const asked = useAsk(CURRENCIES, { provider: form.values.provider })
  const currencies = asked.data?.currencies ?? []
  const isKnown = (currency: string) => currencies.some(({ code }) => code === currency)
  const read = (values: { amount: string; currency: string }) => {
    const chosen = currencies.find(({ code }) => code === values.currency)
    return chosen
      ? { ...typedAmount(values.amount, chosen, navigator.language), decimals: chosen.decimals }
      : { amount: null, problem: null, decimals: 2 }
  }
  const { provider, interval, id } = form.values
  const { amount, decimals } = read(form.values)
  const paid = interval === 'once' ? null : interval
  const shown =
    amount === null ? null : priceText({ amount, decimals, currency: form.values.currency, interval: paid })
  const create = useChange(CREATE, {
    done: saved(onDone),
    said: `${shown} added.`,
    ...('packageId' in sells && {
      next: {
        label: 'Sell it by a payment link',
        to: { to: '/apps/$app/billing', params: { app: appId } },
      },
    }),
  })
  const save = () => {
    if (amount === null) return
    const { packageId, credits } = soldBy(sells, form.values)
    const input = {
      ...(credits && { credits }),
      provider,
      amount,
      currency: form.values.currency,
      interval: paid,
      ...(id.trim() !== '' && { id: id.trim() }),
    }
    const { onError } = ontoFields(form)
    create.mutate(
      { appId, packageId, input },
      {
        onError: (error) => {
          setReviewing(false)
          onError(error)
        },
      },
    )
  }
  if (reviewing) {
    return (
      <ConfirmPrice
        shown={shown}
        provider={provider}
        livemode={providers.find((each) => each.provider === provider)?.livemode ?? null}
        submit="Add price"
        busy={create.isPending}
        onBack={() => setReviewing(false)}
        onConfirm={save}
      />
    )
  }
  return (
    <form noValidate onSubmit={form.onSubmit(() => setReviewing(true))}>
      <Stack>
        <FormAlert error={create.error ?? asked.error} fields={fieldsOf(form)} />
        <Select
          label="Provider"
          data={providers.map(({ provider }) => ({ value: provider, label: providerName(provider) }))}
          allowDeselect={false}
          {...form.getInputProps('provider')}
        />
        {'feature' in sells && <CreditSaleFields form={form} feature={sells.feature} />}
        <Group grow align="flex-start">
          <TextInput
            label="Amount"
            inputMode="decimal"
            autoComplete="off"
            placeholder={decimals === 0 ? '1500' : `29.${'0'.repeat(decimals)}`}
            leftSection={
              <Text size="sm" c="dimmed" aria-hidden>
                {symbolOf(form.values.currency)}
              </Text>
            }
            leftSectionWidth={44}
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <Select
            label="Currency"
            searchable
            allowDeselect={false}
            nothingFoundMessage="No matching currency"
            data={currencies.map(({ code }) => ({ value: code, label: currencyLabel(code) }))}
            {...form.getInputProps('currency')}
            onChange={(code) => {
              form.setFieldValue('currency', code ?? form.values.currency)
              form.clearFieldError('amount')
            }}
          />
        </Group>
        {'packageId' in sells && (
          <Select
            label="Paid"
            allowDeselect={false}
            data={[
              { value: 'day', label: 'every day' },
              { value: 'week', label: 'every week' },
              { value: 'month', label: 'every month' },
              { value: 'year', label: 'every year' },
              { value: 'once', label: 'once' },
            ]}
            {...form.getInputProps('interval')}
          />
        )}
        <Text size="sm" c="dimmed" role="status">
          {shown === null ? 'Enter an amount to preview what customers see.' : `Customers will see ${shown}.`}
        </Text>
        <TextInput
          label="Id at the provider"
          description={
            provider === 'sandbox'
              ? 'Optional. The sandbox generates one'
              : `Such as price_1Nx…. ${provider} charges its own price, not this amount. Import the price to keep both the same.`
          }
          {...form.getInputProps('id')}
        />
        <FormActions submit="Review price" busy={false} onCancel={onDone} />
      </Stack>
    </form>
  )
}

const NAMES = new Intl.DisplayNames('en', { type: 'currency' })

const currencyLabel = (code: string) => `${code.toUpperCase()} · ${NAMES.of(code.toUpperCase()) ?? ''}`
