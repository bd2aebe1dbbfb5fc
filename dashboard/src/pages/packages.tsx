import { Button, Group, SegmentedControl, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { NewPackageForm } from '../forms/new-package-form.tsx'
import { adminCall, curl } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PackageStatusTag } from '../ui/package-status.tsx'
import { Page } from '../ui/page.tsx'
import { priceText } from '../ui/price.ts'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const PACKAGES = graphql(`
  query Packages($appId: String!) {
    packages(appId: $appId) {
      id name status isAddon archived updatedAt
      draft { name }
      grants { id }
      prices { id amount decimals currency interval }
    }
  }
`)
type Package = ResultOf<typeof PACKAGES>['packages'][number]

export function PackagesPage() {
  const appId = useAppId()
  const may = useMay()
  const { status = 'all', make } = useSearch({ from: '/inside/apps/$app/packages' })
  const navigate = useNavigate({ from: '/apps/$app/packages' })
  const packages = useAsk(PACKAGES, { appId })
  const newOne = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => void navigate({ search: (s) => ({ ...s, make: '1' }) })}
      disabled={!may('createPackage')}
    >
      New package
    </Button>
  )
  return (
    <Page
      title="Packages"
      about="Base plans and add-ons: which features, how much of each, at what price."
      actions={newOne}
    >
      <Loaded of={packages}>
        {({ packages }) =>
          packages.length === 0 ? (
            <Empty
              title="Create your first package"
              action={newOne}
              code={<CodeBlock label="The same with curl" text={curl(EXAMPLE, appId)} />}
            >
              A package groups features with an allowance for each. A user has one base plan and any number of
              add-ons. A new package is a draft; publish it to let people subscribe.
            </Empty>
          ) : (
            <>
              <SegmentedControl
                w="fit-content"
                aria-label="Status"
                value={status}
                onChange={(value) =>
                  void navigate({
                    search: value === 'all' ? {} : { status: value as 'draft' | 'published' | 'archived' },
                  })
                }
                data={[
                  { value: 'all', label: 'All' },
                  { value: 'published', label: 'Published' },
                  { value: 'draft', label: 'With a draft' },
                  { value: 'archived', label: 'Archived' },
                ]}
              />
              <DataTable
                label="Packages"
                rows={packages.filter((p) => shows(p, status))}
                keyOf={({ id }) => id}
                columns={COLUMNS(appId)}
              />
            </>
          )
        }
      </Loaded>
      <FormDialog
        opened={make !== undefined}
        onClose={() => void navigate({ search: {} })}
        title="New package"
      >
        <NewPackageForm
          appId={appId}
          onCancel={() => void navigate({ search: {} })}
          onDone={(id) => void navigate({ to: '/apps/$app/packages/$id', params: { app: appId, id } })}
        />
      </FormDialog>
    </Page>
  )
}

function shows(p: Package, status: string): boolean {
  if (p.archived) return status === 'archived'
  if (status === 'published') return p.status === 'PUBLISHED'
  if (status === 'draft') return p.status === 'DRAFT' || p.draft !== null
  return status === 'all'
}

const EXAMPLE = adminCall(
  'mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id status } }',
  { input: { id: 'pro', name: 'Pro', features: [{ id: 'api-calls', entitlement: { limit: 1000 } }] } },
)

const COLUMNS = (appId: string) => [
  {
    label: 'Name',
    cell: ({ id, name }: Package) => (
      <>
        <Link to="/apps/$app/packages/$id" params={{ app: appId, id }} className="row-link">
          {name}
        </Link>
        <Text size="xs" c="dimmed" ff="monospace">
          {id}
        </Text>
      </>
    ),
  },
  {
    label: 'Status',
    cell: (p: Package) => (
      <Group gap="xs">
        <PackageStatusTag status={p.status} hasDraft={p.draft !== null} />
        {p.isAddon && <Tag tone="accent">Add-on</Tag>}
      </Group>
    ),
  },
  { label: 'Features', right: true, wide: true, cell: ({ grants }: Package) => grants.length },
  {
    label: 'Price',
    wide: true,
    cell: ({ prices }: Package) =>
      prices.map(priceText).join(', ') || (
        <Text size="sm" c="dimmed">
          none
        </Text>
      ),
  },
  { label: 'Changed', wide: true, cell: ({ updatedAt }: Package) => <When at={updatedAt} /> },
]
