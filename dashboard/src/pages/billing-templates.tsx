import { Button, Group, Menu, Stack, Text } from '@mantine/core'
import { IconLink, IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { LinkTester } from '../forms/link-tester.tsx'
import { TemplateForm } from '../forms/template-form.tsx'
import { TemplateRemoval } from '../forms/template-removal.tsx'
import { ArchivedFilter } from '../ui/archived-filter.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { ExportRows } from '../ui/export-rows.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PackageLink } from '../ui/package-link.tsx'
import { Pager } from '../ui/pager.tsx'
import { offerText, providerName } from '../ui/price.ts'
import { SearchInput } from '../ui/search-input.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { matches, slice } from '../ui/slice.ts'
import { sorted } from '../ui/sorting.ts'
import { Tag } from '../ui/tag.tsx'
import { Total } from '../ui/total.tsx'
import { SandboxWarning } from './sandbox-warning.tsx'

const TEMPLATES = graphql(`
  query BillingTemplates($appId: String!) {
    billingTemplates(appId: $appId, includeArchived: true) {
      id name provider problem archivedAt trialDays trialNeedsCard promotionCodes
      packages { id name }
      prices { id amount decimals currency interval }
      choices { prices { amount decimals currency interval } }
    }
  }
`)
type Template = ResultOf<typeof TEMPLATES>['billingTemplates'][number]
type Filters = { search?: string; show?: 'archived'; order?: Order }

type Column = 'name' | 'packages' | 'price' | 'state'
type Order = Column | `-${Column}`

/** The server sends them oldest first. */
function listed(templates: readonly Template[], { search, show, order }: Filters): readonly Template[] {
  const shown = templates.filter(
    ({ id, name, archivedAt }) =>
      (archivedAt !== null) === (show === 'archived') && matches(search, id, name),
  )
  return sorted(shown, order, {
    name: ({ name }) => name,
    packages: ({ packages }) => packages.map(({ name }) => name).join(' '),
    price: ({ prices: [price] }) => price && price.amount / 10 ** price.decimals,
    state: ({ problem }) => problem ?? '',
  })
}

export function BillingTemplates({ appId }: { appId: string }) {
  const may = useMay()
  const [making, setMaking] = useState(false)
  const [testing, setTesting] = useState<string | null>(null)
  const asked = useAsk(TEMPLATES, { appId })
  const { show, search, order, after } = useSearch({ from: '/inside/apps/$app/billing' })
  const navigate = useNavigate({ from: '/apps/$app/billing' })
  // Another filter is another list: it starts at its first page.
  const set = (change: { [Name in keyof Filters]: Filters[Name] | undefined }) =>
    void navigate({ search: ({ after, ...rest }) => ({ ...rest, ...change }) as Filters, replace: true })
  const make = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setMaking(true)}
      disabled={!may('createBillingTemplate')}
    >
      New template
    </Button>
  )
  return (
    <Stack>
      <Loaded of={asked} skeleton={<SkeletonTable columns={5} rows={4} tools total />}>
        {({ billingTemplates }) => {
          const shown = listed(billingTemplates, {
            ...(search && { search }),
            ...(show && { show }),
            ...(order && { order }),
          })
          const page = slice(shown, after)
          return billingTemplates.length === 0 ? (
            <Empty title="Create your first template" action={make}>
              A template ties packages to their prices. Your backend passes its id to generateSubscriptionLink
              and sends the user to the link. When they pay, Tollgate subscribes them automatically. Give the
              package a price first.
            </Empty>
          ) : (
            <Stack gap="sm">
              <ListTools>
                <SearchInput
                  label="Search by id or name"
                  value={search ?? ''}
                  onSearch={(text) => set({ search: text === '' ? undefined : text })}
                />
                <ArchivedFilter
                  archived={show === 'archived'}
                  onChange={(archived) => set({ show: archived ? 'archived' : undefined })}
                />
                <ExportRows
                  name="templates"
                  rows={shown}
                  columns={[
                    ['id', ({ id }) => id],
                    ['name', ({ name }) => name],
                    ['packages', ({ packages }) => packages.map(({ id }) => id).join(' ')],
                    ['prices', offerText],
                    ['archivedAt', ({ archivedAt }) => archivedAt],
                  ]}
                />
                <div className="list-end">{make}</div>
              </ListTools>
              <Total
                of={{ count: shown.length, more: false }}
                one="template"
                many="templates"
                page={{ before: page.before, rows: page.rows.length }}
              />
              <DataTable
                label="Billing templates"
                rows={page.rows}
                sorting={{ now: order, set: (order) => set({ order: order as Order }) }}
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: 'Template',
                    sort: 'name',
                    cell: ({ id, name }) => (
                      <>
                        <Text size="sm" fw={550}>
                          {name}
                        </Text>
                        <Text size="xs" c="dimmed" ff="monospace">
                          {id}
                        </Text>
                      </>
                    ),
                  },
                  {
                    label: 'Packages',
                    sort: 'packages',
                    cell: ({ packages }) => (
                      <Group gap="xs">
                        {packages.map(({ id, name }) => (
                          <PackageLink key={id} appId={appId} id={id} name={name} />
                        ))}
                      </Group>
                    ),
                  },
                  {
                    label: 'Price',
                    sort: 'price',
                    cell: ({ prices, choices, ...terms }) => (
                      <>
                        <Text size="sm">{offerText({ prices, choices })}</Text>
                        <Text size="xs" c="dimmed">
                          {termsText(terms)}
                        </Text>
                      </>
                    ),
                  },
                  {
                    label: 'Status',
                    sort: 'state',
                    cell: ({ problem, provider, archivedAt }) =>
                      archivedAt !== null ? (
                        <Tag>Archived</Tag>
                      ) : problem === null ? (
                        <Tag tone="good">
                          {provider === null ? 'Ready' : `Ready, ${providerName(provider)}`}
                        </Tag>
                      ) : (
                        <>
                          <Tag tone="bad">No link yet</Tag>
                          <Text size="xs" c="dimmed" mt="xxs">
                            {problem}
                          </Text>
                        </>
                      ),
                  },
                  {
                    label: 'Actions',
                    hiddenLabel: true,
                    right: true,
                    cell: ({ id, name, archivedAt }) => (
                      <TemplateRemoval
                        appId={appId}
                        template={{ id, name, archived: archivedAt !== null }}
                        size="sm"
                      >
                        <Menu.Item
                          leftSection={<IconLink size={16} aria-hidden />}
                          disabled={!may('generateSubscriptionLink')}
                          onClick={() => setTesting(id)}
                        >
                          Create link
                        </Menu.Item>
                      </TemplateRemoval>
                    ),
                  },
                ]}
              />
              <Pager after={after} next={page.next} />
            </Stack>
          )
        }}
      </Loaded>
      <FormDialog opened={making} onClose={() => setMaking(false)} title="New template">
        <TemplateForm appId={appId} onDone={() => setMaking(false)} />
      </FormDialog>
      <FormDialog
        opened={testing !== null}
        onClose={() => setTesting(null)}
        size="lg"
        title={`Create a payment link: ${nameOf(asked.data?.billingTemplates, testing)}`}
      >
        <SandboxWarning appId={appId} />
        {testing !== null && <LinkTester appId={appId} templateId={testing} />}
      </FormDialog>
    </Stack>
  )
}

const nameOf = (templates: readonly Template[] | undefined, id: string | null) =>
  templates?.find((template) => template.id === id)?.name ?? id

function termsText(terms: {
  trialDays?: number | null
  trialNeedsCard: boolean
  promotionCodes: boolean
}): string {
  const { trialDays, trialNeedsCard, promotionCodes } = terms
  const trial = trialDays ? `${trialDays}-day trial${trialNeedsCard ? '' : ' without a card'}` : ''
  return [trial, promotionCodes ? 'promotion codes' : ''].filter((text) => text !== '').join(', ')
}
