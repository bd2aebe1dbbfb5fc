import { Button, Group, Stack, Tabs, Text, Title } from '@mantine/core'
import { IconRocket } from '@tabler/icons-react'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { LeaveDialog } from '../forms/leave-dialog.tsx'
import { PackageForm } from '../forms/package-form.tsx'
import { PackageMetadataForm } from '../forms/package-metadata-form.tsx'
import { DuplicateItem, PackageRemoval } from '../forms/package-removal.tsx'
import { isUnsaved } from '../forms/unsaved.ts'
import { grantInput } from '../grants.ts'
import { GrantDiff } from '../ui/grant-diff.tsx'
import { AnchorLink, ButtonLink } from '../ui/links.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { PackageStatusTag } from '../ui/package-status.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { SubjectLine } from '../ui/subject-line.tsx'
import { Tag } from '../ui/tag.tsx'
import { PackagePrices } from './package-prices.tsx'
import { PACKAGE } from './package-query.ts'
import { ScheduledPublication } from './scheduled-publication.tsx'

const SubscriptionList = lazy(async () => ({
  default: (await import('./subscription-list.tsx')).SubscriptionList,
}))
const PackageVersions = lazy(async () => ({
  default: (await import('./package-versions.tsx')).PackageVersions,
}))

const DISCARD = graphql(`
  mutation DiscardPackageDraft($appId: String!, $id: String!, $version: String) {
    discardPackageDraft(appId: $appId, id: $id, expectedVersion: $version) { id }
  }
`)

const RESTORE = graphql(`
  mutation RestoreDraft($appId: String!, $id: String!, $input: EditPackageInput!) {
    editPackage(appId: $appId, id: $id, input: $input) { id }
  }
`)

export function PackagePage() {
  const { app, id } = useParams({ from: '/inside/apps/$app/packages/$id' })
  const { tab = 'content' } = useSearch({ from: '/inside/apps/$app/packages/$id' })
  const navigate = useNavigate({ from: '/apps/$app/packages/$id' })
  const may = useMay()
  const asked = useAsk(PACKAGE, { appId: app, id })
  const found = asked.data?.package
  const [filled, setFilled] = useState(0)
  const reload = async () => {
    await asked.refetch()
    setFilled(filled + 1)
  }
  const restore = useChange(RESTORE, { said: 'Draft restored.', done: reload })
  const [losing, setLosing] = useState(false)
  const discard = useChange(DISCARD, {
    said: 'Draft discarded.',
    done: reload,
    undo: () => {
      const draft = found?.draft
      const features = asked.data?.features ?? []
      const input = draft && {
        name: draft.name,
        features: draft.grants.map((grant) => grantInput(grant, features)),
      }
      return input ? () => restore.mutate({ appId: app, id, input }) : undefined
    },
  })
  const publishable = found && (found.status === 'DRAFT' || found.draft !== null)
  const review = (variant: 'filled' | 'default') => (
    <ButtonLink
      variant={variant}
      to="/apps/$app/packages/$id/publish"
      params={{ app, id }}
      leftSection={<IconRocket size={16} aria-hidden />}
    >
      Review and publish
    </ButtonLink>
  )
  return (
    <Page
      title={found?.name ?? id}
      heading={
        <Group gap="sm">
          {found?.name ?? id}
          {found && (
            <PackageStatusTag
              status={found.status}
              hasDraft={found.draft !== null}
              scheduled={found.scheduled}
            />
          )}
          {found?.isAddon && <Tag tone="accent">Add-on</Tag>}
          {found?.archived && <Tag>Archived</Tag>}
        </Group>
      }
      about={
        <SubjectLine
          list={
            <AnchorLink to="/apps/$app/packages" params={{ app }} size="sm">
              Packages
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
          {tab !== 'content' && publishable && found.scheduled?.problem !== null && review('filled')}
          {found && (
            <PackageRemoval
              appId={app}
              package={found}
              onDeleted={() => void navigate({ to: '/apps/$app/packages', params: { app } })}
            >
              {may('createPackage') && <DuplicateItem appId={app} id={id} />}
            </PackageRemoval>
          )}
        </>
      }
    >
      <Loaded of={asked} whole skeleton={<SkeletonTable columns={3} rows={4} />}>
        {({ package: p, features }) => {
          if (!p) return null
          const shown = p.draft ?? p
          const isWaiting = p.scheduled?.problem === null
          return (
            <Tabs
              value={tab}
              onChange={(value) => void navigate({ search: { tab: value as typeof tab }, replace: true })}
              keepMounted={false}
            >
              <Tabs.List mb="md" aria-label="Parts of the package">
                <Tabs.Tab value="content">Content</Tabs.Tab>
                <Tabs.Tab value="prices">Prices</Tabs.Tab>
                <Tabs.Tab value="subscribers">Subscribers</Tabs.Tab>
                <Tabs.Tab value="versions">Versions</Tabs.Tab>
                <Tabs.Tab value="metadata">Metadata</Tabs.Tab>
              </Tabs.List>
              <Tabs.Panel value="content">
                <Stack gap="xl">
                  <LeaveDialog
                    opened={losing}
                    onStay={() => setLosing(false)}
                    onLeave={() => {
                      setLosing(false)
                      discard.mutate({ appId: app, id, version: p.version })
                    }}
                  />
                  <ScheduledPublication appId={app} package={p} />
                  {p.draft && !isWaiting && (
                    <Note tone="warn" title="These edits are not published yet">
                      <Group justify="space-between">
                        <Text size="sm">Subscribers keep the published version until you publish again.</Text>
                        <Button
                          variant="default"
                          size="xs"
                          loading={discard.isPending}
                          disabled={!may('discardPackageDraft')}
                          onClick={() =>
                            isUnsaved()
                              ? setLosing(true)
                              : discard.mutate({ appId: app, id, version: p.version })
                          }
                        >
                          Discard the draft
                        </Button>
                      </Group>
                    </Note>
                  )}
                  <PackageForm
                    key={`${id} ${filled}`}
                    appId={app}
                    id={id}
                    version={p.version}
                    name={shown.name}
                    grants={shown.grants}
                    features={features}
                    published={p.status === 'PUBLISHED'}
                    readOnly={!may('editPackage') || isWaiting}
                    onReload={() => void reload()}
                    {...(publishable &&
                      !isWaiting && {
                        actions: (dirty: boolean) => review(dirty ? 'default' : 'filled'),
                      })}
                  />
                  {p.draft && (
                    <Stack gap="xs">
                      <Title order={2}>Published and draft</Title>
                      <GrantDiff before={p.grants} after={p.draft.grants} features={features} />
                    </Stack>
                  )}
                </Stack>
              </Tabs.Panel>
              <Tabs.Panel value="prices">
                <PackagePrices appId={app} packageId={id} />
              </Tabs.Panel>
              <Tabs.Panel value="subscribers">
                <Suspense fallback={<Loading />}>
                  <SubscriptionList appId={app} packageId={id} />
                </Suspense>
              </Tabs.Panel>
              <Tabs.Panel value="versions">
                <Stack gap="md">
                  <ScheduledPublication appId={app} package={p} />
                  <Suspense fallback={<Loading />}>
                    <PackageVersions
                      appId={app}
                      packageId={id}
                      name={p.name}
                      hasDraft={p.draft !== null}
                      isScheduled={isWaiting}
                      features={features}
                      onRestored={() => void reload()}
                    />
                  </Suspense>
                </Stack>
              </Tabs.Panel>
              <Tabs.Panel value="metadata">
                <PackageMetadataForm
                  key={`${id} ${filled}`}
                  appId={app}
                  id={id}
                  version={p.version}
                  metadata={p.metadata}
                />
              </Tabs.Panel>
            </Tabs>
          )
        }}
      </Loaded>
    </Page>
  )
}
