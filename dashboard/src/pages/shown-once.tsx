import { Button, Group, Stack, Text } from '@mantine/core'
import type { Scope } from '../key-scopes.ts'
import { adminCall, curl, sdk } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { When } from '../ui/when.tsx'

export interface NewSecret {
  name: string
  scope: Scope
  secret: string
  expiresAt: string | null
  formerExpiresAt: string | null
}

/** A call that the key may make. */
const firstCall = (scope: Scope) =>
  scope === 'USAGE'
    ? {
        admin: adminCall('{ canUseFeature(userId: "user-1", featureId: "api-calls") { access reason } }'),
        sdk: `canUseFeature({ userId: 'user-1', featureId: 'api-calls' })`,
      }
    : { admin: adminCall('{ features { id name } }'), sdk: 'features()' }

/** A new secret, with commands that work when pasted. */
export function ShownOnce({
  appId,
  secret: { name, scope, secret, expiresAt, formerExpiresAt },
  onClose,
}: {
  appId: string
  secret: NewSecret
  onClose: () => void
}) {
  const first = firstCall(scope)
  return (
    <Dialog
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      closeOnEscape={false}
      size="lg"
      title={`The secret of “${name}”`}
    >
      <Stack>
        <Text size="sm">
          Copy it now. You cannot see it again.
          {expiresAt !== null && (
            <>
              {' '}
              It works until <When at={expiresAt} time />.
            </>
          )}
          {formerExpiresAt !== null && (
            <>
              {' '}
              The previous secret works until <When at={formerExpiresAt} time />.
            </>
          )}
        </Text>
        <CodeBlock label="The secret" text={secret} />
        <CodeBlock label="A first call with curl" text={curl(first.admin, appId, secret)} />
        <CodeBlock label="A first call with the SDK" text={sdk(first.sdk, appId, secret)} />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
