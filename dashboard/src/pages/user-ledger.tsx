import { Group, Select, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { ExportLink } from '../ui/export-rows.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { Name, type SentencePart } from '../ui/sentence.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { When } from '../ui/when.tsx'

const LEDGER = graphql(`
  query Ledger($appId: String!, $userId: String!, $featureId: String, $after: String) {
    ledger(appId: $appId, userId: $userId, featureId: $featureId, after: $after) {
      next
      olderEntries
      rows { id featureId credit action delta used periodStart recordedAt }
    }
  }
`)
const CONSUMABLE = graphql(`
  query ConsumableFeatures($appId: String!) {
    features(appId: $appId) { id name type }
  }
`)

/** All recorded usage of a user, newest first. */
export function UserLedger({ appId, userId }: { appId: string; userId: string }) {
  const { feature, after } = useSearch({ strict: false })
  const navigate = useNavigate()
  const features = useAsk(CONSUMABLE, { appId }).data?.features ?? []
  const asked = useAsk(
    LEDGER,
    { appId, userId, featureId: feature ?? null, after: after ?? null },
    { keepPrevious: true },
  )
  const named = (id: string): SentencePart => {
    const found = features.find((feature) => feature.id === id)
    return { text: found?.name ?? id, subject: found ? { kind: 'FEATURE', appId, id } : null }
  }
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <Select
          label="Feature"
          placeholder="All features"
          w={260}
          clearable
          data={features
            .filter(({ type }) => type === 'CONSUMABLE')
            .map(({ id, name }) => ({ value: id, label: name }))}
          value={feature ?? null}
          onChange={(feature) =>
            void navigate({
              to: '.',
              search: { tab: 'ledger', ...(feature !== null && { feature }) },
            } as never)
          }
        />
        <ExportLink list="ledger" query={{ app: appId, userId, featureId: feature }} />
      </Group>
      <Loaded of={asked} skeleton={<SkeletonTable columns={5} lines={1} />}>
        {({ ledger }) =>
          ledger?.rows.length === 0 ? (
            <Text c="dimmed">
              {after || ledger.olderEntries > 0 ? 'No entries.' : 'No usage yet.'} <Older {...ledger} />
            </Text>
          ) : (
            <>
              <DataTable
                label="Ledger"
                rows={ledger?.rows ?? []}
                keyOf={({ id }) => id}
                columns={[
                  { label: 'Recorded', cell: ({ recordedAt }) => <When at={recordedAt} time /> },
                  { label: 'Feature', cell: ({ featureId }) => <Name {...named(featureId)} /> },
                  {
                    label: 'Operation',
                    wide: true,
                    cell: ({ action }) => (action === 'SET' ? 'set' : 'add'),
                  },
                  {
                    label: 'Change',
                    right: true,
                    cell: ({ delta }) => (delta > 0 ? `+${number(delta)}` : number(delta)),
                  },
                  { label: 'Total after', right: true, cell: ({ used }) => number(used) },
                  {
                    label: 'Paid by',
                    wide: true,
                    cell: ({ credit, periodStart }) =>
                      credit === null ? (
                        <>
                          Plan, period from <When at={periodStart} />
                        </>
                      ) : (
                        `Credit ${credit}`
                      ),
                  },
                ]}
              />
              {ledger && ledger.olderEntries > 0 && (
                <Text c="dimmed" size="sm">
                  <Older {...ledger} />
                </Text>
              )}
              <Pager after={after} next={ledger?.next} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

/** Why entries are missing that the counters include. */
function Older({ olderEntries }: { olderEntries: number }) {
  if (olderEntries === 0) return null
  return olderEntries === 1
    ? 'One older entry has been archived or deleted. Its usage is still counted.'
    : `${number(olderEntries)} older entries have been archived or deleted. Their usage is still counted.`
}
