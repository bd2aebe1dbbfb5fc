import { Button, Collapse, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconExternalLink } from '@tabler/icons-react'
import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { adminCall, curl } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { UserInput } from '../ui/user-input.tsx'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { resultPages } from './result-pages.ts'
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
  /** The link is for this user, not to try the template. */
  forUser?: boolean
  onMade?: () => void
}

/** Creates a payment link from a template, as the Admin API does. */
export function LinkTester({ appId, templateId, userId = '', forUser = false, onMade }: LinkTesterProps) {
  const form = useForm({
    initialValues: { userId, ...resultPages(appId) },
    validate: { successUrl: required('The success URL'), cancelUrl: required('The cancel URL') },
  })
  const [options, { toggle }] = useDisclosure()
  const { saved } = useUnsaved(form)
  const make = useChange(LINK, { done: saved(onMade) })
  const url = make.data?.generateSubscriptionLink?.url
  const variables = { templateId, ...form.values, userId: form.values.userId.trim() || null }
  return (
    <form noValidate onSubmit={form.onSubmit(() => make.mutate({ appId, ...variables }, ontoFields(form)))}>
      <Stack>
        <FormAlert error={make.error} fields={fieldsOf(form)} />
        {!forUser && (
          <UserInput
            appId={appId}
            label="User"
            description="Find by name, email or id. Leave empty to create a user from the payer's details"
            data-autofocus
            {...form.getInputProps('userId')}
          />
        )}
        <Collapse
          expanded={options || form.errors.successUrl !== undefined || form.errors.cancelUrl !== undefined}
        >
          <Stack>
            <TextInput
              label="Success URL"
              description="Where the payer goes after the payment"
              {...form.getInputProps('successUrl')}
            />
            <TextInput
              label="Cancel URL"
              description="Where the payer goes after cancelling"
              {...form.getInputProps('cancelUrl')}
            />
          </Stack>
        </Collapse>
        <Group>
          <Button type="submit" loading={make.isPending}>
            Create link
          </Button>
          <Button variant="subtle" onClick={toggle} aria-expanded={options}>
            Return addresses
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
        {!forUser && (
          <>
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
          </>
        )}
      </Stack>
    </form>
  )
}
