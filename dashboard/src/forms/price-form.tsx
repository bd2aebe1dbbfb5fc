import { Group, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'

const CREATE = graphql(`
  mutation CreatePrice($appId: String!, $packageId: String!, $input: CreatePriceInput!) {
    createPrice(appId: $appId, packageId: $packageId, input: $input) { id }
  }
`)

interface PriceFormProps {
  appId: string
  packageId: string
  providers: string[]
  onDone: () => void
}

export function PriceForm({ appId, packageId, providers, onDone }: PriceFormProps) {
  const form = useForm({
    initialValues: {
      provider: providers[0] ?? 'sandbox',
      amount: '' as number | '',
      currency: 'eur',
      interval: 'month',
      id: '',
    },
    validate: {
      amount: (value) => (value === '' ? 'The amount is missing.' : null),
      currency: required('The currency'),
      id: (value, { provider }) =>
        provider !== 'sandbox' && value.trim() === '' ? `The price's id at ${provider} is missing.` : null,
    },
  })
  const create = useChange(CREATE, {
    done: onDone,
    said: 'The price is there. Links ask for it from now on.',
  })
  const save = form.onSubmit(({ provider, amount, currency, interval, id }) => {
    const input = {
      provider,
      amount: Number(amount),
      currency: currency.trim().toLowerCase(),
      interval: interval === 'once' ? null : interval,
      ...(id.trim() !== '' && { id: id.trim() }),
    }
    create.mutate({ appId, packageId, input }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error} fields={fieldsOf(form)} />
        <Select label="Provider" data={providers} allowDeselect={false} {...form.getInputProps('provider')} />
        <Group grow align="flex-start">
          <NumberInput
            label="Amount"
            description="In the smallest unit: 2900 is 29.00"
            min={0}
            allowDecimal={false}
            allowNegative={false}
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <TextInput
            label="Currency"
            description="Three letters, such as eur"
            maxLength={3}
            {...form.getInputProps('currency')}
          />
        </Group>
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
        <TextInput
          label="Id at the provider"
          description={
            form.values.provider === 'sandbox'
              ? 'May stay empty: the sandbox makes one'
              : 'Such as price_1Nx…'
          }
          {...form.getInputProps('id')}
        />
        <FormActions submit="Add price" busy={create.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
