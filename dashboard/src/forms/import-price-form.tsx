import { Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { priceText, providerName } from '../ui/price.ts'
import { ConfirmPrice } from './confirm-price.tsx'
import { CreditSaleFields, creditChecks, NO_CREDITS, type Sells, soldBy } from './credit-sale-fields.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CHOICES = graphql(`
  query ProviderPrices($appId: String!, $provider: String!) {
    providerPrices(appId: $appId, provider: $provider) {
      id productName amount decimals currency interval packageId sellsCredits
    }
  }
`)
const IMPORT = graphql(`
  mutation ImportPrice(
    $appId: String!, $packageId: String, $provider: String!, $id: String!, $credits: CreditSaleInput
  ) {
    importPrice(appId: $appId, packageId: $packageId, provider: $provider, id: $id, credits: $credits) { id }
  }
`)

interface ImportPriceFormProps {
  appId: string
  sells: Sells
  provider: string
  livemode: boolean | null
  onDone: () => void
}

/** Imports a price from the provider: nothing is typed twice. */
export function ImportPriceForm({ appId, sells, provider, livemode, onDone }: ImportPriceFormProps) {
  const [reviewing, setReviewing] = useState(false)
  const choices = useAsk(CHOICES, { appId, provider })
  // Credits are paid once.
  const prices = (choices.data?.providerPrices ?? []).filter(
    ({ interval }) => 'packageId' in sells || interval === null,
  )
  const form = useForm({
    initialValues: { id: '', ...NO_CREDITS },
    validate: { id: required('The id'), ...creditChecks(sells) },
  })
  const { saved } = useUnsaved(form)
  const take = useChange(IMPORT, {
    done: saved(onDone),
    said: 'Price imported. New payment links charge it.',
  })
  const id = form.values.id.trim()
  const chosen = prices.find((price) => price.id === id)
  const save = () => {
    const { onError } = ontoFields(form)
    take.mutate(
      { appId, provider, id, ...soldBy(sells, form.values) },
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
        shown={chosen ? priceText(chosen) : null}
        provider={provider}
        livemode={livemode}
        submit="Import price"
        busy={take.isPending}
        onBack={() => setReviewing(false)}
        onConfirm={save}
      />
    )
  }
  return (
    <form noValidate onSubmit={form.onSubmit(() => setReviewing(true))}>
      <Stack>
        <FormAlert error={take.error} fields={fieldsOf(form)} />
        <FormAlert error={choices.error} />
        <Select
          label={`A price at ${providerName(provider)}`}
          description={
            choices.data && prices.length === 0
              ? `There are none yet. Create a product with a price at ${providerName(provider)} first`
              : 'Prices that already sell something cannot be selected'
          }
          placeholder={choices.isPending ? 'Loading prices…' : 'Choose from the list'}
          searchable
          nothingFoundMessage="No matching price"
          data-autofocus
          data={prices.map(({ id, productName, packageId, sellsCredits, ...price }) => ({
            value: id,
            label: `${productName ?? id}, ${priceText(price)}${packageId === null ? '' : ` (of ${packageId})`}${sellsCredits ? ' (sells credits)' : ''}`,
            disabled: packageId !== null || sellsCredits,
          }))}
          value={chosen?.id ?? null}
          onChange={(id) => form.setFieldValue('id', id ?? '')}
        />
        <TextInput label="Or enter its id" placeholder="price_…" {...form.getInputProps('id')} />
        {'feature' in sells && <CreditSaleFields form={form} feature={sells.feature} />}
        <FormActions submit="Review price" busy={false} onCancel={onDone} />
      </Stack>
    </form>
  )
}
