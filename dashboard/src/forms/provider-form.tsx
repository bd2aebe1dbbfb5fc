import { Checkbox, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { providerName } from '../ui/price.ts'
import { FormActions } from './form-actions.tsx'
import { fieldsOf, ontoFields } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const SET = graphql(`
  mutation SetProviderAccount($appId: String!, $provider: String!, $input: ProviderAccountInput!) {
    setProviderAccount(appId: $appId, provider: $provider, input: $input) { provider }
  }
`)

interface ProviderFormProps {
  appId: string
  account: { provider: string; keyHint: string | null; webhookSecrets: number; webhookUrl: string }
  onDone: () => void
}

export function ProviderForm({ appId, account, onDone }: ProviderFormProps) {
  const form = useForm({ initialValues: { secretKey: '', webhookSecret: '', drop: false } })
  const { saved } = useUnsaved(form)
  const set = useChange(SET, {
    done: saved(onDone),
    said: `${providerName(account.provider)} saved. Secrets are stored encrypted and never shown again.`,
  })
  const save = form.onSubmit(({ secretKey, webhookSecret, drop }) => {
    const input = {
      ...(secretKey !== '' && { secretKey }),
      ...(webhookSecret !== '' && { webhookSecret }),
      ...(drop && { dropPreviousWebhookSecret: true }),
    }
    set.mutate({ appId, provider: account.provider, input }, ontoFields(form))
  })
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={set.error} fields={fieldsOf(form)} />
        <PasswordInput
          label="Secret key"
          description={
            account.keyHint
              ? `A key ending in ${account.keyHint} is set. Leave this empty to keep it.`
              : 'sk_test_… or sk_live_…'
          }
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('secretKey')}
        />
        <Text size="sm">
          Add this URL as a webhook at {providerName(account.provider)}, then enter its signing secret below:
        </Text>
        <CodeBlock label="Webhook URL" text={account.webhookUrl} />
        <PasswordInput
          label="Webhook signing secret"
          description={
            account.webhookSecrets > 0
              ? 'A secret is set. A new one works alongside it until the old one is dropped.'
              : 'whsec_…'
          }
          autoComplete="off"
          {...form.getInputProps('webhookSecret')}
        />
        {account.webhookSecrets > 1 && (
          <Checkbox
            label="Drop the old signing secret"
            {...form.getInputProps('drop', { type: 'checkbox' })}
          />
        )}
        <FormActions submit="Save" busy={set.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
