import { Checkbox, MultiSelect, NumberInput, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { priceText, providerName } from '../ui/price.ts'
import { FormActions } from './form-actions.tsx'
import { NameInput } from './name-input.tsx'
import { fieldsOf, idProblem, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CHOICES = graphql(`
  query TemplateChoices($appId: String!) {
    packages(appId: $appId) { id name status isAddon archived }
    prices(appId: $appId) { id packageId provider amount decimals currency interval isDefault }
  }
`)
const CREATE = graphql(`
  mutation CreateBillingTemplate($appId: String!, $input: CreateBillingTemplateInput!) {
    createBillingTemplate(appId: $appId, input: $input) { id problem }
  }
`)

type Price = ResultOf<typeof CHOICES>['prices'][number]

/** "$29.00 per month"; with the provider where there are several. */
function labelOf(price: Price, all: readonly Price[]): string {
  const several = new Set(all.map(({ provider }) => provider)).size > 1
  return several ? `${priceText(price)} · ${providerName(price.provider)}` : priceText(price)
}

/** The intervals at which every package has a price like the chosen one; the server has the same rule. */
function choosable(sold: readonly { prices: readonly Price[]; chosen: Price | undefined }[]): string[] {
  const [first] = sold
  if (!first?.chosen || first.chosen.interval === null) return []
  const { provider, currency } = first.chosen
  return ['day', 'week', 'month', 'year'].filter((interval) =>
    sold.every(({ prices }) =>
      prices.some(
        (price) => price.interval === interval && price.provider === provider && price.currency === currency,
      ),
    ),
  )
}

export function TemplateForm({ appId, onDone }: { appId: string; onDone: () => void }) {
  const asked = useAsk(CHOICES, { appId })
  const choices = asked.data
  const form = useForm({
    initialValues: {
      name: '',
      id: '',
      packageIds: [] as string[],
      /** the chosen price of each package, by its id; without an entry the default */
      prices: {} as Record<string, string>,
      trialDays: '' as number | '',
      trialNeedsCard: true,
      promotionCodes: false,
      choosesInterval: false,
    },
    validate: {
      name: required('The name'),
      id: idProblem,
      packageIds: (ids) => (ids.length === 0 ? 'Choose at least one package.' : null),
    },
  })
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, { done: saved(onDone), said: (_, { input }) => `${input.name} created.` })
  const save = form.onSubmit(({ prices: _, trialDays, ...input }) =>
    create.mutate(
      {
        appId,
        input: {
          ...input,
          // Always by name: a price that is added later then changes nothing here.
          ...(priceIds.length > 0 && { priceIds }),
          ...(typeof trialDays === 'number' && { trialDays }),
        },
      },
      ontoFields(form),
    ),
  )
  const sold = form.values.packageIds.map((packageId) => {
    const prices = choices?.prices.filter((price) => price.packageId === packageId) ?? []
    const chosen =
      prices.find(({ id }) => id === form.values.prices[packageId]) ??
      prices.find(({ isDefault }) => isDefault) ??
      prices.at(-1)
    return { packageId, prices, chosen, name: choices?.packages.find(({ id }) => id === packageId)?.name }
  })
  const priceIds = sold.flatMap(({ chosen }) => chosen?.id ?? [])
  const intervals = choosable(sold)
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error ?? asked.error} fields={fieldsOf(form)} />
        <NameInput form={form} placeholder="Pro, monthly" />
        <TextInput label="Id" description="Your code passes it as templateId" {...form.getInputProps('id')} />
        <MultiSelect
          label="Packages"
          description="A plan with add-ons, or add-ons alone for users who have a plan"
          data={(choices?.packages ?? [])
            .filter(({ archived }) => !archived)
            .map(({ id, name }) => ({ value: id, label: name }))}
          searchable
          {...form.getInputProps('packageIds')}
        />
        {sold.map(({ packageId, name, prices, chosen }) => (
          <Select
            key={packageId}
            label={`Price of ${name ?? packageId}`}
            placeholder="No price yet"
            description={prices.length === 0 ? 'Add a price to the package to sell it' : undefined}
            disabled={prices.length === 0}
            data={prices.map((price) => ({ value: price.id, label: labelOf(price, prices) }))}
            value={chosen?.id ?? null}
            onChange={(id) =>
              id !== null && form.setFieldValue('prices', { ...form.values.prices, [packageId]: id })
            }
            allowDeselect={false}
          />
        ))}
        {intervals.length > 1 && (
          <Checkbox
            label={`The customer chooses: ${intervals.map((each) => `per ${each}`).join(' or ')}`}
            description="A page asks before the payment. Other intervals use the default price, or the newest, of each package."
            {...form.getInputProps('choosesInterval', { type: 'checkbox' })}
          />
        )}
        <NumberInput
          label="Free trial, in days"
          description="Leave empty to charge immediately. A user can try a plan once."
          allowDecimal={false}
          allowNegative={false}
          {...form.getInputProps('trialDays')}
        />
        {form.values.trialDays !== '' && (
          <Checkbox
            label="Ask for a card when the trial starts"
            description="Without a card, access ends with the trial"
            {...form.getInputProps('trialNeedsCard', { type: 'checkbox' })}
          />
        )}
        <Checkbox
          label="Allow promotion codes"
          description="Codes are created at Stripe; the sandbox has none"
          {...form.getInputProps('promotionCodes', { type: 'checkbox' })}
        />
        <FormActions submit="Create template" busy={create.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
