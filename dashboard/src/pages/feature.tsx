import { Button, Group, Stack, Tabs } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FeatureRemoval } from '../forms/feature-removal.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { AnchorLink, ButtonLink } from '../ui/links.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { SubjectLine } from '../ui/subject-line.tsx'
import { Tag } from '../ui/tag.tsx'
import { FeatureActivity } from './feature-activity.tsx'
import { FeatureDenials } from './feature-denials.tsx'
import { FeatureOverrides } from './feature-overrides.tsx'
import { FeaturePackages } from './feature-packages.tsx'
import { FeatureUsers } from './feature-users.tsx'

const UsageOverTime = lazy(async () => ({
  default: (await import('./usage-over-time.tsx')).UsageOverTime,
}))
const FeaturePrices = lazy(async () => ({
  default: (await import('./feature-prices.tsx')).FeaturePrices,
}))
const FeaturePool = lazy(async () => ({ default: (await import('./feature-pool.tsx')).FeaturePool }))
const FeatureForm = lazy(async () => ({ default: (await import('../forms/feature-form.tsx')).FeatureForm }))

const FEATURE = graphql(`
  query Feature($appId: String!, $id: String!) {
    feature(appId: $appId, id: $id) {
      id name type unitLabel unitLabelPlural metadata thresholds version archived
    }
  }
`)

/** One feature: how much it is used and denied, and who has it. */
export function FeaturePage() {
  const { app, id } = useParams({ from: '/inside/apps/$app/features/$id' })
  const { tab = 'overview', edit } = useSearch({ from: '/inside/apps/$app/features/$id' })
  const navigate = useNavigate({ from: '/apps/$app/features/$id' })
  const may = useMay()
  const asked = useAsk(FEATURE, { appId: app, id })
  const found = asked.data?.feature
  const close = () => void navigate({ search: ({ edit, ...rest }) => rest })
  return (
    <Page
      title={found?.name ?? id}
      heading={
        <Group gap="sm">
          {found?.name ?? id}
          {found && (
            <Tag tone={found.type === 'BINARY' ? 'plain' : 'accent'}>
              {found.type === 'BINARY' ? 'Binary' : 'Consumable'}
            </Tag>
          )}
          {found?.archived && <Tag>Archived</Tag>}
        </Group>
      }
      about={
        <SubjectLine
          list={
            <AnchorLink to="/apps/$app/features" params={{ app }} size="sm">
              Features
            </AnchorLink>
          }
          id={id}
        >
          <AnchorLink to="/apps/$app/audit" params={{ app }} search={{ subject: id }} size="sm">
            Audit log
          </AnchorLink>
        </SubjectLine>
      }
      actions={
        <>
          <ButtonLink variant="default" to="/apps/$app/playground" params={{ app }} search={{ feature: id }}>
            Try a check
          </ButtonLink>
          <Button
            variant="default"
            disabled={!found || !may('updateFeature')}
            onClick={() => void navigate({ search: (s) => ({ ...s, edit: '1' }) })}
          >
            Edit
          </Button>
          {found && (
            <FeatureRemoval
              appId={app}
              feature={found}
              onDeleted={() => void navigate({ to: '/apps/$app/features', params: { app } })}
            />
          )}
        </>
      }
    >
      <Loaded of={asked} whole skeleton={<SkeletonCards cards={2} cols={1} height={300} />}>
        {({ feature }) =>
          feature && (
            <>
              <Tabs
                value={tab}
                onChange={(value) =>
                  void navigate({
                    search:
                      value === null || value === 'overview'
                        ? {}
                        : { tab: value as Exclude<typeof tab, 'overview'> },
                    replace: true,
                  })
                }
                keepMounted={false}
              >
                <Tabs.List mb="md" aria-label="About the feature">
                  <Tabs.Tab value="overview">Overview</Tabs.Tab>
                  <Tabs.Tab value="users">Users</Tabs.Tab>
                  <Tabs.Tab value="overrides">Overrides</Tabs.Tab>
                  <Tabs.Tab value="denials">Denials</Tabs.Tab>
                  {feature.type === 'CONSUMABLE' && <Tabs.Tab value="prices">Prices</Tabs.Tab>}
                  {feature.type === 'CONSUMABLE' && <Tabs.Tab value="pool">Pool</Tabs.Tab>}
                </Tabs.List>
                <Tabs.Panel value="overview">
                  <Stack gap="xl">
                    <FeatureActivity appId={app} feature={feature} />
                    {feature.type === 'CONSUMABLE' && (
                      <Suspense fallback={<Loading />}>
                        <UsageOverTime appId={app} feature={feature} />
                      </Suspense>
                    )}
                    <FeaturePackages appId={app} feature={feature} />
                  </Stack>
                </Tabs.Panel>
                <Tabs.Panel value="users">
                  <FeatureUsers appId={app} feature={feature} />
                </Tabs.Panel>
                <Tabs.Panel value="overrides">
                  <FeatureOverrides appId={app} feature={feature} />
                </Tabs.Panel>
                <Tabs.Panel value="denials">
                  <FeatureDenials appId={app} featureId={feature.id} />
                </Tabs.Panel>
                <Tabs.Panel value="prices">
                  <Suspense fallback={<Loading />}>
                    <FeaturePrices appId={app} feature={feature} />
                  </Suspense>
                </Tabs.Panel>
                <Tabs.Panel value="pool">
                  <Suspense fallback={<Loading />}>
                    <FeaturePool appId={app} featureId={feature.id} />
                  </Suspense>
                </Tabs.Panel>
              </Tabs>
              <FormDialog opened={edit !== undefined} onClose={close} title="Edit feature">
                <Suspense fallback={<Loading />}>
                  <FeatureForm key={feature.id} appId={app} feature={feature} onDone={close} />
                </Suspense>
              </FormDialog>
            </>
          )
        }
      </Loaded>
    </Page>
  )
}
