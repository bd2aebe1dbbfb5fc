import { Button, Group, Stack, Text } from '@mantine/core'
import { adminCall, curl, sdk } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { When } from '../ui/when.tsx'

export interface NewSecret {
  name: string
  secret: string
  formerExpiresAt: string | null
}

/** A new secret, with commands that work when pasted. */
export function ShownOnce({
  appId,
  secret: { name, secret, formerExpiresAt },
  onClose,
}: {
  appId: string
  secret: NewSecret
  onClose: () => void
}) {
  return (
    <Dialog opened onClose={onClose} closeOnClickOutside={false} size="lg" title={`The secret of “${name}”`}>
      <Stack>
        <Text size="sm">
          Copy it now. You cannot see it again.
          {formerExpiresAt !== null && (
            <>
              {' '}
              The former one works until <When at={formerExpiresAt} time />.
            </>
          )}
        </Text>
        <CodeBlock label="The secret" text={secret} />
        <CodeBlock
          label="A first call with curl"
          text={curl(adminCall('{ features { id name } }'), appId, secret)}
        />
        <CodeBlock label="A first call with the SDK" text={sdk('features()', appId, secret)} />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
