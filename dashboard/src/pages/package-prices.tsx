import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDownload, IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { ConfirmPrice } from '../forms/confirm-price.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { ImportPriceForm } from '../forms/import-price-form.tsx'
import { PriceForm } from '../forms/price-form.tsx'
import { PriceMenu } from '../forms/price-menu.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { ExportRows } from '../ui/export-rows.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pager } from '../ui/pager.tsx'
import { priceText, providerName } from '../ui/price.ts'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { slice } from '../ui/slice.ts'
import { sorted } from '../ui/sorting.ts'
import { Tag } from '../ui/tag.tsx'
import { Total } from '../ui/total.tsx'
import { afterArchiving, type PriceRef, samePrice } from './default-price.ts'

const PRICES = graphql(`
  query Prices($appId: String!, $packageId: String!) {
    prices(appId: $appId, packageId: $packageId, includeArchived: true) {
      id provider amount decimals currency interval archivedAt isDefault
    }
    providerAccounts(appId: $appId) { provider enabled livemode }
  }
`)
const ARCHIVE = graphql(`
  mutation ArchivePrice($appId: String!, $provider: String!, $id: String!, $archived: Boolean!) {
    archivePrice(appId: $appId, provider: $provider, id: $id, archived: $archived) { archivedAt }
  }
`)
const SET_DEFAULT = graphql(`
  mutation SetDefaultPrice($appId: String!, $provider: String!, $id: String!) {
    setDefaultPrice(appId: $appId, provider: $provider, id: $id) { id }
  }
`)

type Price = ResultOf<typeof PRICES>['prices'][number]

type Filters = { show?: 'current' | 'archived'; order?: Order }

type Column = 'amount' | 'provider' | 'id' | 'state'
type Order = Column | `-${Column}`

/** The server sends them oldest first. Amounts in different currencies are not compared. */
function listed(prices: readonly Price[], { show, order }: Filters): readonly Price[] {
  const shown = prices.filter(
    ({ archivedAt }) => show === undefined || (archivedAt !== null) === (show === 'archived'),
  )
  return sorted(shown, order, {
    amount: ({ currency, amount }) => `${currency} ${String(amount).padStart(16, '0')}`,
    provider: ({ provider }) => providerName(provider),
    id: ({ id }) => id,
    state: ({ archivedAt }) => Number(archivedAt !== null),
  })
}

export function PackagePrices({ appId, packageId }: { appId: string; packageId: string }) {
  const [opened, { open, close }] = useDisclosure()
  const [importing, setImporting] = useState<string | null>(null)
  const may = useMay()
  const asked = useAsk(PRICES, { appId, packageId })
  const { show, order, after } = useSearch({ from: '/inside/apps/$app/packages/$id' })
  const navigate = useNavigate({ from: '/apps/$app/packages/$id' })
  // Another filter is another list: it starts at its first page.
  const set = (change: { [Name in keyof Filters]: Filters[Name] | undefined }) =>
    void navigate({ search: ({ after, ...rest }) => ({ ...rest, ...change }) as Filters, replace: true })
  const [returning, setReturning] = useState<Price | null>(null)
  const textOf = ({ provider, id }: PriceRef) => {
    const price = asked.data?.prices.find(samePrice({ id, provider }))
    return price ? priceText(price) : id
  }
  const makeDefault = useChange(SET_DEFAULT, {
    said: (_, price) => `${textOf(price)} is now the default.`,
  })
  const back = useChange(ARCHIVE, {
    said: (_, price) => `${textOf(price)} ${price.archived ? 'archived' : 'restored'}.`,
  })
  const archive = useChange(ARCHIVE, {
    done: () => setReturning(null),
    said: (_, price) =>
      price.archived
        ? `${textOf(price)} archived. Current subscribers keep it. ${afterArchiving(asked.data?.prices ?? [], price)}`
        : `${textOf(price)} restored.`,
    undo: (_, price) => {
      const wasDefault = asked.data?.prices.find(samePrice(price))?.isDefault ?? false
      const { appId, provider, id, archived } = price
      return () =>
        back.mutate(
          { ...price, archived: !archived },
          { onSuccess: () => wasDefault && archived && makeDefault.mutate({ appId, provider, id }) },
        )
    },
  })
  return (
    <Loaded of={asked} skeleton={<SkeletonTable lines={1} rows={3} tools total />}>
      {({ prices, providerAccounts }) => {
        const shown = listed(prices, { ...(show && { show }), ...(order && { order }) })
        const page = slice(shown, after)
        const livemodeOf = (name: string) =>
          providerAccounts.find(({ provider }) => provider === name)?.livemode ?? null
        return (
          <Stack align="stretch">
            <Group justify="space-between">
              <Text c="dimmed" maw={560}>
                What customers pay. A template without a price of its own uses the default.
              </Text>
              <Group gap="xs">
                {providerAccounts
                  // The sandbox has no prices to import.
                  .filter(({ provider, enabled }) => enabled && provider !== 'sandbox')
                  .map(({ provider }) => (
                    <Button
                      key={provider}
                      variant="default"
                      leftSection={<IconDownload size={16} aria-hidden />}
                      onClick={() => setImporting(provider)}
                      disabled={!may('importPrice')}
                    >
                      Import from {providerName(provider)}
                    </Button>
                  ))}
                <Button
                  leftSection={<IconPlus size={16} aria-hidden />}
                  onClick={open}
                  disabled={!may('createPrice')}
                >
                  Add price
                </Button>
              </Group>
            </Group>
            <FormAlert error={archive.error ?? back.error ?? makeDefault.error} />
            {prices.length === 0 ? (
              <Empty
                title="No prices yet"
                action={
                  <Button variant="default" onClick={open} disabled={!may('createPrice')}>
                    Add the first price
                  </Button>
                }
              >
                Without a price, users can be subscribed here or by the API, but not by a payment link.
              </Empty>
            ) : (
              <>
                <ListTools>
                  <SegmentedControl
                    w="fit-content"
                    aria-label="Show"
                    value={show ?? 'all'}
                    onChange={(value) =>
                      set({ show: value === 'current' || value === 'archived' ? value : undefined })
                    }
                    data={[
                      { value: 'all', label: 'All' },
                      { value: 'current', label: 'In use' },
                      { value: 'archived', label: 'Archived' },
                    ]}
                  />
                  <ExportRows
                    name="prices"
                    rows={shown}
                    columns={[
                      ['provider', ({ provider }) => provider],
                      ['id', ({ id }) => id],
                      ['price', (price) => priceText(price)],
                      ['archivedAt', ({ archivedAt }) => archivedAt],
                    ]}
                  />
                </ListTools>
                <Total
                  of={{ count: shown.length, more: false }}
                  one="price"
                  many="prices"
                  page={{ before: page.before, rows: page.rows.length }}
                />
                <DataTable
                  label="Prices"
                  rows={page.rows}
                  sorting={{ now: order, set: (order) => set({ order: order as Order }) }}
                  keyOf={({ provider, id }) => `${provider} ${id}`}
                  columns={[
                    {
                      label: 'Price',
                      sort: 'amount',
                      cell: (price) => (
                        <Group gap="xs">
                          <Text size="sm" fw={600}>
                            {priceText(price)}
                          </Text>
                          {price.isDefault && (
                            <Tag tone="accent" title="Used by templates without a price of their own">
                              Default
                            </Tag>
                          )}
                        </Group>
                      ),
                    },
                    { label: 'Provider', sort: 'provider', cell: ({ provider }) => providerName(provider) },
                    {
                      label: 'Id',
                      sort: 'id',
                      wide: true,
                      cell: ({ id }) => (
                        <Text size="xs" ff="monospace">
                          {id}
                        </Text>
                      ),
                    },
                    {
                      label: 'Status',
                      sort: 'state',
                      cell: ({ archivedAt }) =>
                        archivedAt === null ? <Tag tone="good">In use</Tag> : <Tag>Archived</Tag>,
                    },
                    {
                      label: 'Actions',
                      hiddenLabel: true,
                      right: true,
                      cell: (price) => (
                        <PriceMenu
                          price={price}
                          onDefault={() =>
                            makeDefault.mutate({ appId, provider: price.provider, id: price.id })
                          }
                          onArchive={() =>
                            archive.mutate({ appId, provider: price.provider, id: price.id, archived: true })
                          }
                          onRestore={() => setReturning(price)}
                        />
                      ),
                    },
                  ]}
                />
                <Pager after={after} next={page.next} />
              </>
            )}
            <FormDialog opened={opened} onClose={close} title="Add a price">
              <PriceForm
                appId={appId}
                sells={{ packageId }}
                providers={providerAccounts.filter(({ enabled }) => enabled)}
                currency={prices.at(-1)?.currency ?? 'usd'}
                onDone={close}
              />
            </FormDialog>
            <Dialog opened={returning !== null} onClose={() => setReturning(null)} title="Restore a price">
              {returning !== null && (
                <ConfirmPrice
                  shown={priceText(returning)}
                  provider={returning.provider}
                  livemode={livemodeOf(returning.provider)}
                  submit="Restore"
                  busy={archive.isPending}
                  onBack={() => setReturning(null)}
                  onConfirm={() => {
                    const { provider, id } = returning
                    archive.mutate({ appId, provider, id, archived: false })
                  }}
                />
              )}
            </Dialog>
            <FormDialog
              opened={importing !== null}
              onClose={() => setImporting(null)}
              title={`Import a price from ${importing === null ? '' : providerName(importing)}`}
            >
              {importing !== null && (
                <ImportPriceForm
                  appId={appId}
                  sells={{ packageId }}
                  provider={importing}
                  livemode={livemodeOf(importing)}
                  onDone={() => setImporting(null)}
                />
              )}
            </FormDialog>
          </Stack>
        )
      }}
    </Loaded>
  )
}
