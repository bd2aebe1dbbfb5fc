import { Anchor, Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { keyVariable } from '../snippets.ts'
import { FormAlert } from '../ui/form-alert.tsx'

const CREATE = graphql(`
  mutation KeyForLines($appId: String!) {
    createApiKey(appId: $appId, name: "First steps") { secret }
  }
`)

/** Creates a key and puts it into the commands, so that they work when pasted. */
export function KeyForLines({ appId, onKey }: { appId: string; onKey: (secret: string) => void }) {
  const may = useMay()
  const create = useChange(CREATE, {
    said: 'Key created. It is listed under API keys as “First steps”.',
    done({ createApiKey }) {
      if (createApiKey) onKey(createApiKey.secret)
    },
  })
  return (
    <>
      <FormAlert error={create.error} />
      <Text size="xs" c="dimmed">
        <code>${keyVariable(appId)}</code>{' '}
        {appId === 'default'
          ? 'is the key printed at the first start.'
          : 'stands for an API key of this app.'}{' '}
        {may('createApiKey') && (
          <Anchor
            component="button"
            type="button"
            size="xs"
            underline="always"
            onClick={() => create.mutate({ appId })}
          >
            Use a new key in these examples
          </Anchor>
        )}
      </Text>
    </>
  )
}
