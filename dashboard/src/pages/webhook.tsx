import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { EndpointForm } from '../forms/endpoint-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { NotFound } from '../ui/not-found.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { SubjectLine } from '../ui/subject-line.tsx'
import { When } from '../ui/when.tsx'
import { Deliveries } from './deliveries.tsx'
import { EndpointSecret, type NewSigningSecret } from './endpoint-secret.tsx'
import { EndpointProblem, EndpointTag } from './endpoint-state.tsx'

const ENDPOINT = graphql(`
  query WebhookEndpoint($appId: String!) {
    webhookEndpoints(appId: $appId) {
      id url types description enabled disabledReason disabledAt failingSince previousSecretUntil
    }
  }
`)
const ENABLE = graphql(`
  mutation EnableWebhookEndpoint($appId: String!, $id: String!, $enabled: Boolean!) {
    updateWebhookEndpoint(appId: $appId, id: $id, input: { enabled: $enabled }) { id enabled }
  }
`)
const ROTATE = graphql(`
  mutation RotateWebhookSecret($appId: String!, $id: String!) {
    rotateWebhookSecret(appId: $appId, id: $id) { id secret }
  }
`)
const DELETE = graphql(`
  mutation DeleteWebhookEndpoint($appId: String!, $id: String!) {
    deleteWebhookEndpoint(appId: $appId, id: $id) { id }
  }
`)
const TEST = graphql(`
  mutation SendTestEvent($appId: String!, $id: String!) {
    sendTestEvent(appId: $appId, endpointId: $id) { id }
  }
`)

/** One webhook endpoint and its deliveries. */
export function WebhookPage() {
  const { app: appId, id } = useParams({ from: '/inside/apps/$app/webhooks/$id' })
  const { edit } = useSearch({ from: '/inside/apps/$app/webhooks/$id' })
  const navigate = useNavigate({ from: '/apps/$app/webhooks/$id' })
  const may = useMay()
  const [asking, setAsking] = useState<'rotate' | 'delete' | null>(null)
  const [secret, setSecret] = useState<NewSigningSecret | null>(null)
  const asked = useAsk(ENDPOINT, { appId }, { refetchInterval: 5_000 })
  const endpoint = asked.data?.webhookEndpoints.find((one) => one.id === id)
  const close = () => void navigate({ search: ({ edit, ...rest }) => rest })
  const enable = useChange(ENABLE, {
    said: ({ updateWebhookEndpoint: is }) =>
      is?.enabled ? 'The endpoint is enabled.' : 'The endpoint is disabled.',
  })
  const test = useChange(TEST, { said: 'Test event queued.' })
  const rotate = useChange(ROTATE, {
    done: ({ rotateWebhookSecret: made }) => {
      setAsking(null)
      if (made) setSecret({ ...made, rotated: true })
    },
  })
  const remove = useChange(DELETE, {
    done: () => void navigate({ to: '/apps/$app/webhooks', params: { app: appId } }),
    said: 'The endpoint is deleted.',
  })
  if (asked.data && !endpoint) return <NotFound />
  const enabled = endpoint?.enabled ?? true
  const url = endpoint?.url ?? id
  return (
    <Page
      title={url}
      heading={
        <Group gap="sm">
          {url}
          {endpoint && <EndpointTag endpoint={endpoint} />}
        </Group>
      }
      about={
        <SubjectLine
          list={
            <AnchorLink to="/apps/$app/webhooks" params={{ app: appId }} size="sm">
              Webhooks
            </AnchorLink>
          }
          id={id}
        >
          <AnchorLink to="/apps/$app/audit" params={{ app: appId }} search={{ subject: id }} size="sm">
            Audit log
          </AnchorLink>
        </SubjectLine>
      }
      actions={
        <>
          <Button
            variant="default"
            loading={test.isPending}
            disabled={!endpoint || !enabled || !may('sendTestEvent')}
            onClick={() => test.mutate({ appId, id })}
          >
            Send a test event
          </Button>
          <Button
            variant="default"
            disabled={!endpoint || !may('updateWebhookEndpoint')}
            onClick={() => void navigate({ search: (s) => ({ ...s, edit: '1' }) })}
          >
            Edit
          </Button>
          <Button
            variant="default"
            loading={enable.isPending}
            disabled={!endpoint || !may('updateWebhookEndpoint')}
            onClick={() => enable.mutate({ appId, id, enabled: !enabled })}
          >
            {enabled ? 'Disable' : 'Enable'}
          </Button>
          <Button
            variant="default"
            disabled={!endpoint || !may('rotateWebhookSecret')}
            onClick={() => setAsking('rotate')}
          >
            Rotate the secret
          </Button>
          <Button
            variant="default"
            disabled={!endpoint || !may('deleteWebhookEndpoint')}
            onClick={() => setAsking('delete')}
          >
            Delete
          </Button>
        </>
      }
    >
      <Loaded of={asked} skeleton={<SkeletonTable rows={5} tools />}>
        {() =>
          endpoint && (
            <Stack>
              <FormAlert error={test.error ?? enable.error} />
              <EndpointProblem endpoint={endpoint} />
              <Text size="sm" c="dimmed">
                {endpoint.description !== null && `${endpoint.description}. `}
                {endpoint.types.length === 0
                  ? 'Receives all events.'
                  : `Receives ${endpoint.types.join(', ')}.`}
                {endpoint.previousSecretUntil !== null && (
                  <>
                    {' '}
                    The previous secret signs as well until <When at={endpoint.previousSecretUntil} time />.
                  </>
                )}
              </Text>
              <Deliveries appId={appId} endpoint={endpoint} />
            </Stack>
          )
        }
      </Loaded>
      <FormDialog opened={edit !== undefined} onClose={close} title="Edit webhook endpoint">
        {endpoint && <EndpointForm appId={appId} endpoint={endpoint} onDone={close} />}
      </FormDialog>
      <Confirm
        opened={asking === 'rotate'}
        title="Rotate the signing secret?"
        submit="Rotate"
        busy={rotate.isPending}
        error={rotate.error}
        onConfirm={() => rotate.mutate({ appId, id })}
        onClose={() => setAsking(null)}
      >
        The endpoint gets a new secret. For 24 hours, requests carry the signatures of both, so nothing breaks
        while you deploy it.
      </Confirm>
      <Confirm
        opened={asking === 'delete'}
        title="Delete the endpoint?"
        submit="Delete"
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ appId, id })}
        onClose={() => setAsking(null)}
      >
        Nothing more is sent to {url}. Its deliveries are deleted, including pending ones. This cannot be
        undone. To pause the endpoint, disable it instead.
      </Confirm>
      {secret && <EndpointSecret secret={secret} onClose={() => setSecret(null)} />}
    </Page>
  )
}
