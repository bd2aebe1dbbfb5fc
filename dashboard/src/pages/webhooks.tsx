import { Button, Paper, Skeleton, Stack, Text, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { EndpointForm } from '../forms/endpoint-form.tsx'
import { EventSettingsForm } from '../forms/event-settings-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { units } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { When } from '../ui/when.tsx'
import { EndpointSecret, type NewSigningSecret } from './endpoint-secret.tsx'
import { EndpointTag } from './endpoint-state.tsx'

const ENDPOINTS = graphql(`
  query WebhookEndpoints($appId: String!) {
    webhookEndpoints(appId: $appId) { id url types description enabled disabledReason failingSince createdAt }
  }
`)

/** The URLs that receive the app's events. */
export function WebhooksPage() {
  const appId = useAppId()
  const may = useMay()
  const { make } = useSearch({ from: '/inside/apps/$app/webhooks' })
  const navigate = useNavigate({ from: '/apps/$app/webhooks' })
  const [creating, setCreating] = useState(false)
  const [secret, setSecret] = useState<NewSigningSecret | null>(null)
  useEffect(() => {
    if (make === undefined) return
    setCreating(true)
    void navigate({ search: {}, replace: true })
  }, [make, navigate])
  const asked = useAsk(ENDPOINTS, { appId })
  const newEndpoint = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setCreating(true)}
      disabled={!may('createWebhookEndpoint')}
    >
      New endpoint
    </Button>
  )
  const none = asked.data?.webhookEndpoints.length === 0
  return (
    <Page
      title="Webhooks"
      about="Events of this app are sent to these URLs as signed POST requests. Failed deliveries are retried for three days."
      actions={none ? undefined : newEndpoint}
    >
      <Loaded of={asked} skeleton={<SkeletonTable rows={3} />}>
        {({ webhookEndpoints }) =>
          webhookEndpoints.length === 0 ? (
            <Empty title="Create your first endpoint" action={newEndpoint}>
              Notify your systems of new users, changed subscriptions, reached limits and all other events of
              this app, without polling.
            </Empty>
          ) : (
            <Stack gap="sm">
              <DataTable
                label="Webhook endpoints"
                rows={webhookEndpoints}
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: 'URL',
                    cell: ({ id, url, description }) => (
                      <>
                        <AnchorLink
                          to="/apps/$app/webhooks/$id"
                          params={{ app: appId, id }}
                          size="sm"
                          fw={550}
                        >
                          {url}
                        </AnchorLink>
                        {description !== null && (
                          <Text size="xs" c="dimmed">
                            {description}
                          </Text>
                        )}
                      </>
                    ),
                  },
                  {
                    label: 'Events',
                    wide: true,
                    cell: ({ types }) => (types.length === 0 ? 'All' : units(types.length, 'type', 'types')),
                  },
                  { label: 'Status', cell: (endpoint) => <EndpointTag endpoint={endpoint} /> },
                  { label: 'Created', wide: true, cell: ({ createdAt }) => <When at={createdAt} /> },
                ]}
              />
            </Stack>
          )
        }
      </Loaded>
      <EventSettings appId={appId} />
      <FormDialog opened={creating} onClose={() => setCreating(false)} title="New webhook endpoint">
        <EndpointForm
          appId={appId}
          endpoint={null}
          onCreated={(made) => {
            setCreating(false)
            setSecret(made)
          }}
          onDone={() => setCreating(false)}
        />
      </FormDialog>
      {secret && (
        <EndpointSecret
          secret={secret}
          onClose={() => {
            setSecret(null)
            void navigate({ to: '/apps/$app/webhooks/$id', params: { app: appId, id: secret.id } })
          }}
        />
      )}
    </Page>
  )
}

const SETTINGS = graphql(`
  query EventSettings($appId: String!) {
    eventSettings(appId: $appId) { usageRecorded keptDays }
  }
`)

function EventSettings({ appId }: { appId: string }) {
  const asked = useAsk(SETTINGS, { appId })
  return (
    <Stack gap="xs" component="section" aria-label="Event settings">
      <Title order={2}>Event settings</Title>
      <Paper p="md" radius="md">
        <Loaded of={asked} skeleton={<Skeleton height={130} />}>
          {({ eventSettings }) =>
            eventSettings && <EventSettingsForm appId={appId} settings={eventSettings} />
          }
        </Loaded>
      </Paper>
    </Stack>
  )
}
