import { Button, Text } from '@mantine/core'
import { IconPlus, IconUpload } from '@tabler/icons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { NewUserForm } from '../forms/new-user-form.tsx'
import { adminCall, curl } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { ButtonLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { When } from '../ui/when.tsx'

const USERS = graphql(`
  query Users($appId: String!, $search: String, $after: String) {
    users(appId: $appId, search: $search, after: $after) {
      next
      rows { id name email billingId createdAt }
    }
  }
`)
type User = NonNullable<ResultOf<typeof USERS>['users']>['rows'][number]

export function UsersPage() {
  const appId = useAppId()
  const may = useMay()
  const { search, after, make } = useSearch({ from: '/inside/apps/$app/users' })
  const navigate = useNavigate({ from: '/apps/$app/users' })
  const asked = useAsk(USERS, { appId, search: search ?? null, after: after ?? null }, { keepPrevious: true })
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
      about="The users of your application, by the ids that it gave them."
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
      <SearchInput
        label="Search by name, email, id or billing id"
        value={search ?? ''}
        onSearch={(text) => void navigate({ search: text === '' ? {} : { search: text }, replace: true })}
      />
      <Loaded of={asked}>
        {({ users }) =>
          users && users.rows.length === 0 && !users.next ? (
            search !== undefined || after !== undefined ? (
              <Text c="dimmed">No user has “{search}” in their name, email, id or billing id.</Text>
            ) : (
              <Empty
                title="Tell Tollgate about your users"
                action={newUser}
                code={<CodeBlock label="The same with curl" text={curl(EXAMPLE, appId)} />}
              >
                Your backend creates a user when somebody signs up, with the id that it has for them. Then it
                subscribes the user to a package.
              </Empty>
            )
          ) : (
            <>
              <DataTable
                label="Users"
                rows={users?.rows ?? []}
                keyOf={({ id }) => id}
                columns={COLUMNS(appId)}
              />
              <Pager after={after} next={users?.next} />
            </>
          )
        }
      </Loaded>
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

const COLUMNS = (appId: string) => [
  {
    label: 'User',
    cell: ({ id, name }: User) => (
      <>
        <Link to="/apps/$app/users/$id" params={{ app: appId, id }} className="row-link">
          {name ?? id}
        </Link>
        {name !== null && (
          <Text size="xs" c="dimmed" ff="monospace">
            {id}
          </Text>
        )}
      </>
    ),
  },
  { label: 'Email', cell: ({ email }: User) => email },
  {
    label: 'Billing id',
    wide: true,
    cell: ({ billingId }: User) => (
      <Text size="xs" ff="monospace">
        {billingId}
      </Text>
    ),
  },
  { label: 'Since', wide: true, cell: ({ createdAt }: User) => <When at={createdAt} /> },
]
