import { Button, Group, Stack, Text } from '@mantine/core'
import { CodeBlock } from '../ui/code-block.tsx'
import { Dialog } from '../ui/dialog.tsx'

export interface NewSigningSecret {
  id: string
  secret: string
  /** whether it replaces another one */
  rotated: boolean
}

const verification = (secret: string) => `import { verifyWebhook } from '@tollgate/sdk/webhooks'

const event = await verifyWebhook(request.headers, await request.text(), '${secret}')`

/** A new signing secret, which is shown once. */
export function EndpointSecret({
  secret: { secret, rotated },
  onClose,
}: {
  secret: NewSigningSecret
  onClose: () => void
}) {
  return (
    <Dialog
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      closeOnEscape={false}
      size="lg"
      title="The signing secret"
    >
      <Stack>
        <Text size="sm">
          Copy it now. You cannot see it again.
          {rotated && ' For 24 hours, requests carry the signatures of both secrets.'}
        </Text>
        <CodeBlock label="The secret" text={secret} />
        <CodeBlock label="Verifying a request with the SDK" text={verification(secret)} />
        <Text size="sm" c="dimmed">
          Signatures follow Standard Webhooks, which has libraries for other languages.
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
