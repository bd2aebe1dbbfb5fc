import { Checkbox, MultiSelect, NumberInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { priceText } from '../ui/price.ts'
import { FormActions } from './form-actions.tsx'
import { NameInput } from './name-input.tsx'
import { fieldsOf, idProblem, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const CHOICES = graphql(`
  query TemplateChoices($appId: String!) {
    packages(appId: $appId) { id name status isAddon archived }
    prices(appId: $appId) { id packageId provider amount decimals currency interval }
  }
`)
const CREATE = graphql(`
  mutation CreateBillingTemplate($appId: String!, $input: CreateBillingTemplateInput!) {
    createBillingTemplate(appId: $appId, input: $input) { id problem }
  }
`)

export function TemplateForm({ appId, onDone }: { appId: string; onDone: () => void }) {
  const asked = useAsk(CHOICES, { appId })
  const choices = asked.data
  const form = useForm({
    initialValues: {
      name: '',
      id: '',
      packageIds: [] as string[],
      priceIds: [] as string[],
      trialDays: '' as number | '',
      trialNeedsCard: true,
      promotionCodes: false,
    },
    validate: {
      name: required('The name'),
      id: idProblem,
      packageIds: (ids) => (ids.length === 0 ? 'Choose at least one package.' : null),
    },
  })
  const { saved } = useUnsaved(form)
  const create = useChange(CREATE, { done: saved(onDone), said: 'Template created. Try its link.' })
  const save = form.onSubmit(({ priceIds, trialDays, ...input }) =>
    create.mutate(
      {
        appId,
        input: {
          ...input,
          ...(priceIds.length > 0 && { priceIds }),
          ...(typeof trialDays === 'number' && { trialDays }),
        },
      },
      ontoFields(form),
    ),
  )
  const prices = choices?.prices.filter(({ packageId }) => form.values.packageIds.includes(packageId)) ?? []
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={create.error ?? asked.error} fields={fieldsOf(form)} />
        <NameInput form={form} placeholder="Pro, monthly" />
        <TextInput label="Id" description="Your code passes it as templateId" {...form.getInputProps('id')} />
        <MultiSelect
          label="Packages"
          description="A base plan with add-ons, or add-ons alone for users who have a plan"
          data={(choices?.packages ?? [])
            .filter(({ archived }) => !archived)
            .map(({ id, name }) => ({ value: id, label: name }))}
          searchable
          {...form.getInputProps('packageIds')}
        />
        <MultiSelect
          label="Prices"
          description="Leave empty to use each package's newest price"
          data={prices.map((price) => ({ value: price.id, label: `${priceText(price)} (${price.id})` }))}
          {...form.getInputProps('priceIds')}
        />
        <NumberInput
          label="Free trial, in days"
          description="Leave empty to charge right away. Nobody can try the same package twice."
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
