import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDownload, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { ImportPriceForm } from '../forms/import-price-form.tsx'
import { PriceForm } from '../forms/price-form.tsx'
import { PriceMenu } from '../forms/price-menu.tsx'
import type { CatalogueFeature } from '../grants.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number, units } from '../ui/number.ts'
import { moneyText, priceText, providerName } from '../ui/price.ts'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'

const PRICES = graphql(`
  query CreditPrices($appId: String!, $featureId: String!) {
    prices(appId: $appId, featureId: $featureId, includeArchived: true) {
      id provider amount decimals currency interval archivedAt credits { units expiresDays }
    }
    providerAccounts(appId: $appId) { provider enabled livemode }
  }
`)
const ARCHIVE = graphql(`
  mutation ArchiveCreditPrice($appId: String!, $provider: String!, $id: String!, $archived: Boolean!) {
    archivePrice(appId: $appId, provider: $provider, id: $id, archived: $archived) { archivedAt }
  }
`)

/** Prices that sell credits of a feature. */
export function FeaturePrices({ appId, feature }: { appId: string; feature: CatalogueFeature }) {
  const may = useMay()
  const [adding, { open, close }] = useDisclosure()
  const [importing, setImporting] = useState<string | null>(null)
  const asked = useAsk(PRICES, { appId, featureId: feature.id })
  const textOf = ({ provider, id }: { provider: string; id: string }) => {
    const price = asked.data?.prices.find((one) => one.id === id && one.provider === provider)
    return price ? priceText(price) : id
  }
  const back = useChange(ARCHIVE, {
    said: (_, price) => `${textOf(price)} ${price.archived ? 'archived' : 'restored'}.`,
  })
  const archive = useChange(ARCHIVE, {
    said: (_, price) =>
      price.archived
        ? `${textOf(price)} archived. New payment links cannot use it.`
        : `${textOf(price)} restored.`,
    undo: (_, price) => () => back.mutate({ ...price, archived: !price.archived }),
  })
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={5} lines={1} rows={3} />}>
      {({ prices, providerAccounts }) => {
        const enabled = providerAccounts.filter((account) => account.enabled)
        const add = (
          <Group gap="xs">
            {enabled
              .filter(({ provider }) => provider !== 'sandbox')
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
        )
        return (
          <Stack>
            <FormAlert error={archive.error ?? back.error} />
            {prices.length === 0 ? (
              <Empty title="No credits for sale" action={add}>
                A price sells a number of units of this feature, in addition to any plan: users pay once, by a
                payment link.
              </Empty>
            ) : (
              <>
                <Group justify="space-between">
                  <Text c="dimmed" maw={560}>
                    What users pay for units in addition to their plan.
                  </Text>
                  {add}
                </Group>
                <DataTable
                  label="Prices of credits"
                  rows={prices}
                  keyOf={({ provider, id }) => `${provider} ${id}`}
                  columns={[
                    {
                      label: 'Sells',
                      cell: ({ credits }) =>
                        units(credits?.units ?? 0, feature.unitLabel, feature.unitLabelPlural),
                    },
                    { label: 'Price', right: true, cell: (price) => moneyText(price) },
                    {
                      label: 'Usable for',
                      wide: true,
                      cell: ({ credits }) =>
                        credits?.expiresDays ? `${number(credits.expiresDays)} days` : 'No expiry',
                    },
                    { label: 'Provider', wide: true, cell: ({ provider }) => providerName(provider) },
                    {
                      label: 'Id',
                      wide: true,
                      cell: ({ id }) => (
                        <Text size="xs" ff="monospace">
                          {id}
                        </Text>
                      ),
                    },
                    {
                      label: 'Status',
                      cell: ({ archivedAt }) =>
                        archivedAt === null ? <Tag tone="good">In use</Tag> : <Tag>Archived</Tag>,
                    },
                    {
                      label: 'Actions',
                      hiddenLabel: true,
                      right: true,
                      cell: (price) => {
                        const { provider, id } = price
                        return (
                          <PriceMenu
                            price={price}
                            onArchive={() => archive.mutate({ appId, provider, id, archived: true })}
                            onRestore={() => archive.mutate({ appId, provider, id, archived: false })}
                          />
                        )
                      },
                    },
                  ]}
                />
              </>
            )}
            <FormDialog opened={adding} onClose={close} title={`Sell credits of ${feature.name}`}>
              <PriceForm
                appId={appId}
                sells={{ feature }}
                providers={enabled}
                currency={prices.at(-1)?.currency ?? 'usd'}
                onDone={close}
              />
            </FormDialog>
            <FormDialog
              opened={importing !== null}
              onClose={() => setImporting(null)}
              title={`Import a price from ${importing === null ? '' : providerName(importing)}`}
            >
              {importing !== null && (
                <ImportPriceForm
                  appId={appId}
                  sells={{ feature }}
                  provider={importing}
                  livemode={enabled.find(({ provider }) => provider === importing)?.livemode ?? null}
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
