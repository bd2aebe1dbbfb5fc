import { Box, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { RevokeTokenKey } from '../forms/revoke-token-key.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { RowActions } from '../ui/row-actions.tsx'
import { SkeletonLines } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const TOKEN_KEYS = graphql(`
  query TokenKeys($appId: String!) {
    tokenKeys(appId: $appId) { id algorithm createdAt tokensEndAt revokedAt }
  }
`)
const ROTATE = graphql(`
  mutation RotateTokenKey($appId: String!) {
    rotateTokenKey(appId: $appId) { id }
  }
`)
type TokenKey = ResultOf<typeof TOKEN_KEYS>['tokenKeys'][number]

export function TokenKeys({ appId }: { appId: string }) {
  const may = useMay()
  const [revoking, setRevoking] = useState<string | null>(null)
  const close = () => setRevoking(null)
  const keys = useAsk(TOKEN_KEYS, { appId })
  const rotate = useChange(ROTATE, { said: 'Key rotated. New tokens are signed with the new key.' })
  return (
    <Stack gap="sm" mt="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box maw={720}>
          <Title order={2}>User token keys</Title>
          <Text c="dimmed" mt="xxs">
            They sign the tokens from generateUserToken. After a rotation, new tokens are signed with a new
            key; tokens signed with the old one stay valid until they expire.
          </Text>
        </Box>
        <Button
          variant="default"
          disabled={!may('rotateTokenKey')}
          loading={rotate.isPending}
          aria-label="Rotate the token key"
          onClick={() => rotate.mutate({ appId })}
        >
          Rotate
        </Button>
      </Group>
      <FormAlert error={rotate.error} />
      <Loaded of={keys} skeleton={<SkeletonLines lines={1} />}>
        {({ tokenKeys }) =>
          tokenKeys.length === 0 ? (
            <Text c="dimmed">No keys yet. The first token creates one.</Text>
          ) : (
            <DataTable
              label="User token keys"
              rows={tokenKeys}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'Key id',
                  cell: ({ id }) => (
                    <Text size="sm" ff="monospace">
                      {id}
                    </Text>
                  ),
                },
                { label: 'Status', cell: stateOf },
                { label: 'Algorithm', wide: true, cell: ({ algorithm }) => algorithm },
                { label: 'Created', wide: true, cell: ({ createdAt }) => <When at={createdAt} time /> },
                {
                  label: 'Actions',
                  hiddenLabel: true,
                  right: true,
                  cell: ({ id, revokedAt }) =>
                    revokedAt === null && (
                      <RowActions>
                        <Button
                          size="compact-sm"
                          variant="default"
                          disabled={!may('revokeTokenKey')}
                          aria-label={`Revoke ${id}`}
                          onClick={() => setRevoking(id)}
                        >
                          Revoke
                        </Button>
                      </RowActions>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <Dialog opened={revoking !== null} onClose={close} title="Revoke the token key">
        {revoking !== null && <RevokeTokenKey appId={appId} id={revoking} onDone={close} />}
      </Dialog>
    </Stack>
  )
}

function stateOf({ revokedAt, tokensEndAt }: TokenKey) {
  if (revokedAt !== null) return <Tag>Revoked</Tag>
  if (tokensEndAt === null) return <Tag tone="good">Signing</Tag>
  if (Date.parse(tokensEndAt) <= Date.now()) return <Tag>Retired</Tag>
  return (
    <>
      <Tag tone="warn">Retired</Tag>
      <Text size="xs" c="dimmed">
        until <When at={tokensEndAt} time />
      </Text>
    </>
  )
}
