import { Button, Checkbox, Group, NumberInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconExternalLink } from '@tabler/icons-react'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { number } from '../ui/number.ts'
import { type Money, moneyText } from '../ui/price.ts'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { resultPages } from './result-pages.ts'
import { useUnsaved } from './unsaved.ts'

const LINK = graphql(`
  mutation GenerateCreditLink(
    $appId: String!, $userId: String!, $priceId: String!, $quantity: Int!, $successUrl: String!, $cancelUrl: String!,
    $saveCard: Boolean!
  ) {
    generateCreditLink(
      appId: $appId, userId: $userId, priceId: $priceId, quantity: $quantity, successUrl: $successUrl, cancelUrl: $cancelUrl,
      saveCard: $saveCard
    ) { url }
  }
`)

export interface SoldCredits extends Money {
  id: string
  units: number
  featureName: string
  expiresDays: number | null
}

interface CreditLinkFormProps {
  appId: string
  userId: string
  price: SoldCredits
  /** whether saving the card is chosen at first */
  saveCard?: boolean
}

/** Creates a payment link for credits, as the Admin API does. */
export function CreditLinkForm({ appId, userId, price, saveCard = false }: CreditLinkFormProps) {
  const form = useForm({
    initialValues: { quantity: 1 as number | string, saveCard },
    validate: { quantity: (quantity) => (Number(quantity) >= 1 ? null : 'The quantity is missing.') },
  })
  const { saved } = useUnsaved(form)
  const make = useChange(LINK, { done: saved() })
  const url = make.data?.generateCreditLink?.url
  const quantity = Number(form.values.quantity)
  const submit = form.onSubmit(({ saveCard }) =>
    make.mutate(
      { appId, userId, priceId: price.id, quantity, saveCard, ...resultPages(appId) },
      ontoFields(form),
    ),
  )
  return (
    <form noValidate onSubmit={submit}>
      <Stack>
        <FormAlert error={make.error} fields={fieldsOf(form)} />
        <NumberInput
          label="Quantity"
          min={1}
          max={1_000_000}
          allowDecimal={false}
          allowNegative={false}
          w={160}
          {...form.getInputProps('quantity')}
        />
        <Checkbox
          label="Save the card for automatic recharges"
          description="The payment page says so"
          {...form.getInputProps('saveCard', { type: 'checkbox' })}
        />
        {quantity >= 1 && (
          <Text size="sm" role="status">
            Sells {number(price.units * quantity)} units of {price.featureName} for{' '}
            {moneyText({ ...price, amount: price.amount * quantity })}
            {price.expiresDays !== null && `, usable for ${number(price.expiresDays)} days`}. The credit is
            added once it is paid.
          </Text>
        )}
        <Group>
          <Button type="submit" loading={make.isPending}>
            Create link
          </Button>
          {url !== undefined && (
            <Button
              variant="default"
              component="a"
              href={url}
              target="_blank"
              rel="noreferrer"
              rightSection={<IconExternalLink size={16} aria-hidden />}
            >
              Open the payment page
            </Button>
          )}
        </Group>
        {url !== undefined && <CodeBlock label="Payment link" text={url} />}
      </Stack>
    </form>
  )
}
