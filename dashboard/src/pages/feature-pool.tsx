import { Button, Group, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { CostForm } from '../forms/cost-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { units } from '../ui/number.ts'
import { RowActions } from '../ui/row-actions.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'

const POOLS = graphql(`
  query Pools($appId: String!) {
    features(appId: $appId) {
      id name type unitLabel unitLabelPlural archived version costs { featureId cost }
    }
  }
`)
const SET = graphql(`
  mutation SetCosts($appId: String!, $id: String!, $costs: [CostInput!]!, $version: String) {
    updateFeature(appId: $appId, id: $id, input: { costs: $costs }, expectedVersion: $version) { id version }
  }
`)
type Feature = ResultOf<typeof POOLS>['features'][number]
type Cost = Feature['costs'][number]

interface FeaturePoolProps {
  appId: string
  featureId: string
}

/** Which features draw on this one at which cost, or the pool that it draws on itself. */
export function FeaturePool({ appId, featureId }: FeaturePoolProps) {
  const asked = useAsk(POOLS, { appId })
  return (
    <Loaded of={asked} skeleton={<SkeletonTable columns={3} lines={1} rows={3} />}>
      {({ features }) => {
        const feature = features.find(({ id }) => id === featureId)
        const above = features.find(({ costs }) => costs.some((cost) => cost.featureId === featureId))
        if (!feature) return null
        if (above) return <DrawsOn appId={appId} feature={feature} pool={above} />
        return <Costs appId={appId} pool={feature} features={features} />
      }}
    </Loaded>
  )
}

function DrawsOn({ appId, feature, pool }: { appId: string; feature: Feature; pool: Feature }) {
  const cost = pool.costs.find(({ featureId }) => featureId === feature.id)?.cost ?? 1
  return (
    <Stack gap="xs">
      <Text>
        {feature.name} draws on the pool <PoolLink appId={appId} feature={pool} />: each unit costs{' '}
        {units(cost, pool.unitLabel, pool.unitLabelPlural)} once its own plan and credits are used up.
      </Text>
      <Text size="sm" c="dimmed">
        The cost is set on the page of the pool. A feature that draws on a pool cannot be a pool itself.
      </Text>
    </Stack>
  )
}

const PoolLink = ({ appId, feature }: { appId: string; feature: Pick<Feature, 'id' | 'name'> }) => (
  <AnchorLink
    to="/apps/$app/features/$id"
    params={{ app: appId, id: feature.id }}
    search={{ tab: 'pool' }}
    className="break"
  >
    {feature.name}
  </AnchorLink>
)

/** The cost that the form is about; `cost` is null for a new one. */
type Edited = { cost: Cost | null }

function Costs({ appId, pool, features }: { appId: string; pool: Feature; features: readonly Feature[] }) {
  const may = useMay()
  const [edited, setEdited] = useState<Edited | null>(null)
  const set = useChange(SET, { said: `Costs of ${pool.name} restored.` })
  const remove = useChange(SET, {
    said: `Removed from ${pool.name}. Reservations keep what they hold of the pool.`,
    undo: ({ updateFeature }) => {
      const { costs } = pool
      return () =>
        set.mutate({ appId, id: pool.id, costs: costs.map(inputOf), version: updateFeature?.version ?? null })
    },
  })
  const inPool = new Set(features.flatMap(({ costs }) => costs.map(({ featureId }) => featureId)))
  const free = features.filter(
    ({ id, type, archived, costs }) =>
      type === 'CONSUMABLE' && id !== pool.id && !archived && costs.length === 0 && !inPool.has(id),
  )
  const add = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setEdited({ cost: null })}
      disabled={!may('updateFeature') || free.length === 0}
    >
      Add feature
    </Button>
  )
  const nameOf = (id: string) => features.find((feature) => feature.id === id)?.name ?? id
  return (
    <Stack>
      <FormAlert error={remove.error ?? set.error} />
      {pool.costs.length === 0 ? (
        <Empty title="Not a pool" action={add}>
          Other features can be paid for with units of {pool.name}, each at its own cost: 12 coins for an
          image, for example.
          {free.length === 0 && ' There are no other consumable features yet.'}
        </Empty>
      ) : (
        <>
          <Group justify="space-between">
            <Text c="dimmed" maw={560}>
              Features that draw on {pool.name} once their own plan and credits are used up. Everyone who has{' '}
              {pool.name} can use them, also without a package that includes them.
            </Text>
            {add}
          </Group>
          <DataTable
            label="Features that draw on the pool"
            rows={pool.costs}
            keyOf={({ featureId }) => featureId}
            columns={[
              {
                label: 'Feature',
                cell: ({ featureId }) => (
                  <Group gap="xs">
                    <AnchorLink
                      to="/apps/$app/features/$id"
                      params={{ app: appId, id: featureId }}
                      size="sm"
                      className="break"
                    >
                      {nameOf(featureId)}
                    </AnchorLink>
                    {features.some(({ id, archived }) => id === featureId && archived) && <Tag>Archived</Tag>}
                  </Group>
                ),
              },
              {
                label: 'Cost of a unit',
                right: true,
                cell: ({ cost }) => units(cost, pool.unitLabel, pool.unitLabelPlural),
              },
              {
                label: 'Actions',
                hiddenLabel: true,
                right: true,
                cell: (cost) => (
                  <RowActions>
                    <Button
                      size="compact-sm"
                      variant="default"
                      disabled={!may('updateFeature')}
                      aria-label={`Change the cost of ${nameOf(cost.featureId)}`}
                      onClick={() => setEdited({ cost })}
                    >
                      Change
                    </Button>
                    <Button
                      size="compact-sm"
                      variant="default"
                      disabled={!may('updateFeature')}
                      loading={remove.isPending && !remove.variables?.costs.some(isOf(cost))}
                      aria-label={`Remove ${nameOf(cost.featureId)} from the pool`}
                      onClick={() =>
                        remove.mutate({
                          appId,
                          id: pool.id,
                          costs: pool.costs.filter((one) => !isOf(cost)(one)).map(inputOf),
                          version: pool.version,
                        })
                      }
                    >
                      Remove
                    </Button>
                  </RowActions>
                ),
              },
            ]}
          />
        </>
      )}
      <FormDialog
        opened={edited !== null}
        onClose={() => setEdited(null)}
        title={
          edited?.cost ? `Cost of ${nameOf(edited.cost.featureId)}` : `Let a feature draw on ${pool.name}`
        }
      >
        {edited && (
          <CostForm
            appId={appId}
            pool={pool}
            cost={edited.cost}
            features={edited.cost ? features.filter(({ id }) => id === edited.cost?.featureId) : free}
            onDone={() => setEdited(null)}
          />
        )}
      </FormDialog>
    </Stack>
  )
}

const isOf = (cost: Pick<Cost, 'featureId'>) => (one: Pick<Cost, 'featureId'>) =>
  one.featureId === cost.featureId

const inputOf = ({ featureId, cost }: Cost) => ({ featureId, cost })
