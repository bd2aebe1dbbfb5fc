import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconExternalLink } from '@tabler/icons-react'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { toPath } from '../path-ids.ts'
import { adminCall, curl } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { UserInput } from '../ui/user-input.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const LINK = graphql(`
  mutation GenerateSubscriptionLink($appId: String!, $userId: String, $templateId: String!, $successUrl: String!, $cancelUrl: String!) {
    generateSubscriptionLink(appId: $appId, userId: $userId, templateId: $templateId, successUrl: $successUrl, cancelUrl: $cancelUrl) { url }
  }
`)

interface LinkTesterProps {
  appId: string
  templateId: string
  /** default payer */
  userId?: string
  onMade?: () => void
}

/** Creates a payment link from a template, as the Admin API does. */
export function LinkTester({ appId, templateId, userId = '', onMade }: LinkTesterProps) {
  const here = `${location.origin}/apps/${encodeURIComponent(toPath(appId))}`
  const form = useForm({
    initialValues: { userId, successUrl: `${here}/subscriptions`, cancelUrl: `${here}/billing` },
    validate: { successUrl: required('The address'), cancelUrl: required('The address') },
  })
  const { saved } = useUnsaved(form)
  const make = useChange(LINK, { done: saved(onMade) })
  const url = make.data?.generateSubscriptionLink?.url
  const variables = { templateId, ...form.values, userId: form.values.userId.trim() || null }
  return (
    <form noValidate onSubmit={form.onSubmit(() => make.mutate({ appId, ...variables }, ontoFields(form)))}>
      <Stack>
        <FormAlert error={make.error} fields={fieldsOf(form)} />
        <UserInput
          appId={appId}
          label="User"
          description="Find by name, email or id. Leave empty to create a user for whoever pays"
          data-autofocus
          {...form.getInputProps('userId')}
        />
        <TextInput label="Success URL" {...form.getInputProps('successUrl')} />
        <TextInput label="Cancel URL" {...form.getInputProps('cancelUrl')} />
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
        {url !== undefined && <CodeBlock label="The link" text={url} />}
        <Text size="sm" c="dimmed">
          From your backend:
        </Text>
        <CodeBlock
          label="The same with curl"
          text={curl(
            adminCall(
              'mutation ($userId: String, $templateId: String!, $successUrl: String!, $cancelUrl: String!) { generateSubscriptionLink(userId: $userId, templateId: $templateId, successUrl: $successUrl, cancelUrl: $cancelUrl) { url } }',
              variables,
            ),
            appId,
          )}
        />
      </Stack>
    </form>
  )
}
