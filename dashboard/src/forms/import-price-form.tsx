import { Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { priceText, providerName } from '../ui/price.ts'
import { ConfirmPrice } from './confirm-price.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CHOICES = graphql(`
  query ProviderPrices($appId: String!, $provider: String!) {
    providerPrices(appId: $appId, provider: $provider) {
      id productName amount decimals currency interval packageId
    }
  }
`)
const IMPORT = graphql(`
  mutation ImportPrice($appId: String!, $packageId: String!, $provider: String!, $id: String!) {
    importPrice(appId: $appId, packageId: $packageId, provider: $provider, id: $id) { id }
  }
`)

interface ImportPriceFormProps {
  appId: string
  packageId: string
  provider: string
  livemode: boolean | null
  onDone: () => void
}

/** Imports a price from the provider: nothing is typed twice. */
export function ImportPriceForm({ appId, packageId, provider, livemode, onDone }: ImportPriceFormProps) {
  const [reviewing, setReviewing] = useState(false)
  const choices = useAsk(CHOICES, { appId, provider })
  const prices = choices.data?.providerPrices ?? []
  const form = useForm({ initialValues: { id: '' }, validate: { id: required('The id') } })
  const { saved } = useUnsaved(form)
  const take = useChange(IMPORT, {
    done: saved(onDone),
    said: 'Price imported. New payment links ask for it.',
  })
  const id = form.values.id.trim()
  const chosen = prices.find((price) => price.id === id)
  const save = () => {
    const { onError } = ontoFields(form)
    take.mutate(
      { appId, packageId, provider, id },
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
              : 'Prices of other packages cannot be selected'
          }
          placeholder={choices.isPending ? 'Loading prices…' : 'Choose from the list'}
          searchable
          nothingFoundMessage="No matching price"
          data-autofocus
          data={prices.map(({ id, productName, packageId, ...price }) => ({
            value: id,
            label: `${productName ?? id}, ${priceText(price)}${packageId === null ? '' : ` (of ${packageId})`}`,
            disabled: packageId !== null,
          }))}
          value={chosen?.id ?? null}
          onChange={(id) => form.setFieldValue('id', id ?? '')}
        />
        <TextInput label="Or enter its id" placeholder="price_…" {...form.getInputProps('id')} />
        <FormActions submit="Review price" busy={false} onCancel={onDone} />
      </Stack>
    </form>
  )
}
