import { Button, Select, Stack, Text } from '@mantine/core'
import { IconPlus, IconUpload } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { BulkBar } from '../forms/bulk-bar.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { NewUserForm } from '../forms/new-user-form.tsx'
import { adminCall, curl } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { ExportLink } from '../ui/export-rows.tsx'
import { ButtonLink } from '../ui/links.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { Pager, rowsBefore } from '../ui/pager.tsx'
import { SavedViews } from '../ui/saved-views.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { useSelection } from '../ui/selection.ts'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { SUBSCRIPTION_STATES } from '../ui/subscription-states.ts'
import { Total } from '../ui/total.tsx'
import { USERS, userColumns } from './user-columns.tsx'

const PACKAGES = graphql(`
  query UserFilters($appId: String!) {
    packages(appId: $appId) { id name }
  }
`)

const ORDERS = {
  '-since': 'NEWEST',
  since: 'OLDEST',
  name: 'NAME',
  '-name': 'NAME_DESC',
  email: 'EMAIL',
  '-email': 'EMAIL_DESC',
} as const

export function UsersPage() {
  const appId = useAppId()
  const may = useMay()
  const filters = useSearch({ from: '/inside/apps/$app/users' })
  const { search, package: packageId, state, order, after, at, make } = filters
  const navigate = useNavigate({ from: '/apps/$app/users' })
  const packages = useAsk(PACKAGES, { appId }).data?.packages ?? []
  const query = {
    search: search ?? null,
    packageId: packageId === 'none' ? '' : (packageId?.replace(/^package:/, '') ?? null),
    state: state ?? null,
    order: ORDERS[order ?? '-since'],
  }
  const asked = useAsk(USERS, { appId, ...query, after: after ?? null }, { keepPrevious: true })
  const selection = useSelection(JSON.stringify([appId, query, after]))
  const before = rowsBefore(after, at)
  const columns = userColumns(appId, may)
  const close = () => void navigate({ search: ({ make, ...rest }) => rest })
  const newUser = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      disabled={!may('createUser')}
      onClick={() => void navigate({ search: (s) => ({ ...s, make: '1' }) })}
    >
      New user
    </Button>
  )
  return (
    <Page
      title="Users"
      about="Users of your application, with the ids it uses for them."
      actions={
        <>
          <ButtonLink
            variant="default"
            to="/apps/$app/import"
            params={{ app: appId }}
            leftSection={<IconUpload size={16} aria-hidden />}
          >
            CSV import
          </ButtonLink>
          {newUser}
        </>
      }
    >
      <Stack gap="sm">
        <ListTools>
          <SearchInput
            label="Search by name, email, id or billing id"
            value={search ?? ''}
            onSearch={(text) => void navigate({ search: text === '' ? {} : { search: text }, replace: true })}
          />
          <Select
            aria-label="Plan"
            placeholder="Any plan"
            w={180}
            clearable
            searchable
            data={[
              { value: 'none', label: 'No plan' },
              ...packages.map(({ id, name }) => ({ value: `package:${id}`, label: name })),
            ]}
            value={packageId ?? null}
            onChange={(id) =>
              void navigate({
                search: {
                  ...(id !== null && { package: id }),
                  // Who has no plan has no status either.
                  ...(state && id !== 'none' && { state }),
                },
                replace: true,
              })
            }
          />
          <Select
            aria-label="Status"
            placeholder="Any status"
            w={160}
            clearable
            disabled={packageId === 'none'}
            data={SUBSCRIPTION_STATES}
            value={state ?? null}
            onChange={(state) =>
              void navigate({
                search: {
                  ...(packageId && { package: packageId }),
                  ...(state !== null && { state: state as NonNullable<typeof filters.state> }),
                },
                replace: true,
              })
            }
          />
          <SavedViews appId={appId} list="users" />
          <ExportLink list="users" query={{ app: appId, ...query }} />
        </ListTools>
        <Loaded of={asked} skeleton={<SkeletonTable columns={5} total />}>
          {({ users }) =>
            users && users.rows.length === 0 && !users.next ? (
              packageId !== undefined || state !== undefined ? (
                <Text c="dimmed">No users match.</Text>
              ) : search !== undefined ? (
                <Text c="dimmed">No user has “{search}” in their name, email, id or billing id.</Text>
              ) : (
                <Empty
                  title="Add your first user"
                  action={newUser}
                  code={<CodeBlock label="The same with curl" text={curl(EXAMPLE, appId)} />}
                >
                  Your backend creates a user when someone signs up, with its own id for them, and subscribes
                  them to a package.
                </Empty>
              )
            ) : (
              <>
                <Total
                  of={users?.total}
                  one="user"
                  many="users"
                  page={{ before, rows: users?.rows.length ?? 0, isLast: !users?.next }}
                />
                <BulkBar
                  appId={appId}
                  selection={selection}
                  total={users?.total}
                  one="user"
                  many="users"
                  all={{
                    list: 'USERS',
                    search: query.search,
                    packageId: query.packageId,
                    state: query.state,
                  }}
                />
                <DataTable
                  label="Users"
                  selection={{ of: selection, name: ({ id, name }) => name ?? id }}
                  rows={users?.rows ?? []}
                  keyOf={({ id }) => id}
                  columns={columns}
                  // A search, a plan and a status have an order of their own.
                  sorting={
                    search === undefined && packageId === undefined && state === undefined
                      ? {
                          now: order ?? '-since',
                          set: (order) =>
                            void navigate({ search: { order: order as keyof typeof ORDERS }, replace: true }),
                        }
                      : undefined
                  }
                />
                <Pager
                  after={after}
                  next={users?.next}
                  before={before === undefined ? undefined : before + (users?.rows.length ?? 0)}
                />
              </>
            )
          }
        </Loaded>
      </Stack>
      <FormDialog opened={make !== undefined} onClose={close} title="New user">
        <NewUserForm
          appId={appId}
          onCancel={close}
          onDone={(id) => void navigate({ to: '/apps/$app/users/$id', params: { app: appId, id } })}
        />
      </FormDialog>
    </Page>
  )
}

const EXAMPLE = adminCall('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
  input: { id: 'ada', name: 'Ada', email: 'ada@example.com' },
})
