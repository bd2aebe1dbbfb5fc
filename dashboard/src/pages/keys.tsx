import { Button, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { EditKeyForm } from '../forms/edit-key-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { NewKeyForm } from '../forms/new-key-form.tsx'
import { RevokeKey } from '../forms/revoke-key.tsx'
import { RotateKeyForm } from '../forms/rotate-key-form.tsx'
import { scopeLabel } from '../key-scopes.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { ExportRows } from '../ui/export-rows.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { MoreMenu } from '../ui/more-menu.tsx'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { matches, slice } from '../ui/slice.ts'
import { sorted } from '../ui/sorting.ts'
import { Tag } from '../ui/tag.tsx'
import { Total } from '../ui/total.tsx'
import { When } from '../ui/when.tsx'
import { type NewSecret, ShownOnce } from './shown-once.tsx'
import { TokenKeys } from './token-keys.tsx'

const KEYS = graphql(`
  query ApiKeys($appId: String!) {
    apiKeys(appId: $appId) { id name prefix scope createdAt revokedAt lastUsedAt expiresAt }
  }
`)
type Key = ResultOf<typeof KEYS>['apiKeys'][number]

type Filters = { search?: string; show?: 'working' | 'ended'; order?: Order }

type Column = 'name' | 'scope' | 'created' | 'used' | 'state'
type Order = Column | `-${Column}`

/** The panel above the list. A secret never goes into an address. */
type Open =
  | { is: 'new' }
  | { is: 'edit' | 'rotate' | 'revoke'; key: Key }
  | { is: 'secret'; key: NewSecret }
  | null

export function KeysPage() {
  const appId = useAppId()
  const may = useMay()
  const { make, after, ...filters } = useSearch({ from: '/inside/apps/$app/keys' })
  const navigate = useNavigate({ from: '/apps/$app/keys' })
  const [open, setOpen] = useState<Open>(null)
  useEffect(() => {
    if (make === undefined) return
    setOpen({ is: 'new' })
    void navigate({ search: ({ make, ...rest }) => rest, replace: true })
  }, [make, navigate])
  // Another filter is another list: it starts at its first page.
  const set = (change: { [Name in keyof Filters]: Filters[Name] | undefined }) =>
    void navigate({ search: ({ after, ...rest }) => ({ ...rest, ...change }) as Filters, replace: true })
  const close = () => setOpen(null)
  const show = (key: NewSecret) => setOpen({ is: 'secret', key })
  const keys = useAsk(KEYS, { appId })
  const newKey = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setOpen({ is: 'new' })}
      disabled={!may('createApiKey')}
    >
      New key
    </Button>
  )
  // With none, the list itself offers it.
  const none = keys.data?.apiKeys.length === 0
  return (
    <Page
      title="API keys"
      about="Your backend sends a key in the Authorization header. Secrets are shown only once."
      actions={none ? undefined : newKey}
    >
      <Loaded of={keys} skeleton={<SkeletonTable rows={3} tools total />}>
        {({ apiKeys }) => {
          const shown = listed(apiKeys, filters)
          const page = slice(shown, after)
          return apiKeys.length === 0 ? (
            <Empty title="Create your first key" action={newKey}>
              Your backend needs one of this app's keys to check access and record usage. Keys of other apps
              do not work here.
            </Empty>
          ) : (
            <Stack gap="sm">
              <ListTools>
                <SearchInput
                  label="Search by name or prefix"
                  value={filters.search ?? ''}
                  onSearch={(text) => set({ search: text === '' ? undefined : text })}
                />
                <SegmentedControl
                  w="fit-content"
                  aria-label="Show"
                  value={filters.show ?? 'all'}
                  onChange={(value) =>
                    set({ show: value === 'working' || value === 'ended' ? value : undefined })
                  }
                  data={[
                    { value: 'all', label: 'All' },
                    { value: 'working', label: 'In use' },
                    { value: 'ended', label: 'Ended' },
                  ]}
                />
                <ExportRows
                  name="api-keys"
                  rows={shown}
                  columns={[
                    ['name', ({ name }) => name],
                    ['prefix', ({ prefix }) => prefix],
                    ['scope', ({ scope }) => scope],
                    ['createdAt', ({ createdAt }) => createdAt],
                    ['lastUsedAt', ({ lastUsedAt }) => lastUsedAt],
                    ['expiresAt', ({ expiresAt }) => expiresAt],
                    ['revokedAt', ({ revokedAt }) => revokedAt],
                  ]}
                />
              </ListTools>
              <Total
                of={{ count: shown.length, more: false }}
                one="key"
                many="keys"
                page={{ before: page.before, rows: page.rows.length }}
              />
              <DataTable
                label="API keys"
                rows={page.rows}
                sorting={{ now: filters.order, set: (order) => set({ order: order as Order }) }}
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: 'Name',
                    sort: 'name',
                    cell: ({ name, prefix }) => (
                      <>
                        <Text size="sm" fw={550}>
                          {name}
                        </Text>
                        <Text size="xs" c="dimmed" ff="monospace">
                          {prefix}…
                        </Text>
                      </>
                    ),
                  },
                  { label: 'Scope', sort: 'scope', cell: ({ scope }) => <Tag>{scopeLabel(scope)}</Tag> },
                  { label: 'Status', sort: 'state', cell: stateOf },
                  {
                    label: 'Last used',
                    sort: 'used',
                    sortsDown: true,
                    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <When at={lastUsedAt} time />),
                  },
                  {
                    label: 'Created',
                    wide: true,
                    sort: 'created',
                    sortsDown: true,
                    cell: ({ createdAt }) => <When at={createdAt} />,
                  },
                  {
                    label: 'Actions',
                    hiddenLabel: true,
                    right: true,
                    cell: (key) =>
                      works(key) && (
                        <MoreMenu
                          label={`Actions for ${key.name} ${key.prefix}`}
                          size="sm"
                          actions={[
                            {
                              label: 'Edit',
                              disabled: !may('updateApiKey'),
                              onClick: () => setOpen({ is: 'edit', key }),
                            },
                            {
                              label: 'Rotate',
                              disabled: !may('rotateApiKey'),
                              onClick: () => setOpen({ is: 'rotate', key }),
                            },
                            {
                              label: 'Revoke',
                              disabled: !may('revokeApiKey'),
                              onClick: () => setOpen({ is: 'revoke', key }),
                              danger: true,
                            },
                          ]}
                        />
                      ),
                  },
                ]}
              />
              <Pager after={after} next={page.next} />
            </Stack>
          )
        }}
      </Loaded>
      <TokenKeys appId={appId} />
      <FormDialog opened={open?.is === 'new'} onClose={close} title="New API key">
        <NewKeyForm appId={appId} onDone={show} onCancel={close} />
      </FormDialog>
      <FormDialog opened={open?.is === 'edit'} onClose={close} title="Edit the key">
        {open?.is === 'edit' && <EditKeyForm appId={appId} apiKey={open.key} onDone={close} />}
      </FormDialog>
      <FormDialog opened={open?.is === 'rotate'} onClose={close} title="Rotate the key">
        {open?.is === 'rotate' && (
          <RotateKeyForm appId={appId} apiKey={open.key} onDone={show} onCancel={close} />
        )}
      </FormDialog>
      <Dialog opened={open?.is === 'revoke'} onClose={close} title="Revoke the key">
        {open?.is === 'revoke' && (
          <RevokeKey
            appId={appId}
            apiKey={open.key}
            others={(keys.data?.apiKeys ?? []).filter((key) => key.id !== open.key.id && works(key)).length}
            onDone={close}
          />
        )}
      </Dialog>
      {open?.is === 'secret' && <ShownOnce appId={appId} secret={open.key} onClose={close} />}
    </Page>
  )
}

/** The server sends them oldest first. */
function listed(keys: readonly Key[], { search, show, order }: Filters): readonly Key[] {
  const shown = keys.filter(
    (key) =>
      (show === undefined || works(key) === (show === 'working')) &&
      (key.id === search || matches(search, key.name, key.prefix)),
  )
  return sorted(shown, order, {
    name: ({ name }) => name,
    scope: ({ scope }) => scopeLabel(scope),
    state: (key) => Number(works(key)),
    used: ({ lastUsedAt }) => lastUsedAt,
    created: ({ createdAt }) => createdAt,
  })
}

const works = ({ revokedAt, expiresAt }: Key) =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now())

function stateOf({ revokedAt, expiresAt }: Key) {
  if (revokedAt !== null) return <Tag>Revoked</Tag>
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return <Tag>Expired</Tag>
  return expiresAt === null ? (
    <Tag tone="good">Active</Tag>
  ) : (
    <Tag tone="warn">
      Ends <When at={expiresAt} time />
    </Tag>
  )
}
