import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { ResendFailedForm } from '../forms/resend-failed-form.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ExportLink } from '../ui/export-rows.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { ListTools } from '../ui/list-tools.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number, units } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { RowActions } from '../ui/row-actions.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const DELIVERIES = graphql(`
  query WebhookDeliveries($appId: String!, $endpointId: String!, $state: WebhookDeliveryState, $after: String) {
    webhookDeliveries(appId: $appId, endpointId: $endpointId, state: $state, first: 25, after: $after) {
      nodes {
        id eventId type state attemptCount nextAttemptAt createdAt body
        attempts { at durationMs status error body }
      }
      next
    }
  }
`)
const RESEND = graphql(`
  mutation ResendEvents($appId: String!, $endpointId: String!, $eventIds: [String!]!) {
    resendEvents(appId: $appId, endpointId: $endpointId, eventIds: $eventIds) { resent }
  }
`)

const STATES = { PENDING: 'warn', SUCCEEDED: 'good', FAILED: 'bad' } as const satisfies Record<string, Tone>
type State = keyof typeof STATES
type Delivery = NonNullable<ResultOf<typeof DELIVERIES>['webhookDeliveries']>['nodes'][number]
type Attempt = Delivery['attempts'][number]

/** Deliveries to an endpoint with their attempts, and the actions to resend them. */
export function Deliveries({
  appId,
  endpoint: { id: endpointId, enabled },
}: {
  appId: string
  endpoint: { id: string; enabled: boolean }
}) {
  const may = useMay()
  const { state, after, delivery: shown } = useSearch({ from: '/inside/apps/$app/webhooks/$id' })
  const navigate = useNavigate({ from: '/apps/$app/webhooks/$id' })
  const [resending, setResending] = useState(false)
  const asked = useAsk(
    DELIVERIES,
    { appId, endpointId, state: state ?? null, after: after ?? null },
    { keepPrevious: true, refetchInterval: 5_000 },
  )
  const resend = useChange(RESEND, { said: 'Event queued for resending.' })
  const resendOne = ({ eventId }: Delivery) => resend.mutate({ appId, endpointId, eventIds: [eventId] })
  const close = () => void navigate({ search: ({ delivery, ...rest }) => rest })
  return (
    <Loaded of={asked}>
      {({ webhookDeliveries: page }) => {
        const open = page?.nodes.find(({ id }) => id === shown)
        return (
          <Stack gap="sm">
            <FormAlert error={resend.error} />
            <Group justify="space-between">
              <ListTools>
                <SegmentedControl
                  w="fit-content"
                  aria-label="Status"
                  value={state ?? 'all'}
                  onChange={(value) =>
                    void navigate({ search: value === 'all' ? {} : { state: value as State }, replace: true })
                  }
                  data={[
                    { value: 'all', label: 'All' },
                    { value: 'PENDING', label: 'Pending' },
                    { value: 'FAILED', label: 'Failed' },
                    { value: 'SUCCEEDED', label: 'Succeeded' },
                  ]}
                />
                <ExportLink list="deliveries" query={{ app: appId, endpointId, state }} />
              </ListTools>
              <Button
                variant="default"
                disabled={!enabled || !may('resendFailedEvents')}
                onClick={() => setResending(true)}
              >
                Resend failed events
              </Button>
            </Group>
            {page && page.nodes.length > 0 ? (
              <DataTable
                label="Deliveries"
                rows={page.nodes}
                keyOf={({ id }) => id}
                columns={[
                  { label: 'Queued', cell: ({ createdAt }) => <When at={createdAt} time /> },
                  {
                    label: 'Event',
                    cell: ({ type, eventId }) => (
                      <>
                        {type}
                        <Text size="xs" c="dimmed" ff="monospace">
                          {eventId}
                        </Text>
                      </>
                    ),
                  },
                  { label: 'Status', cell: (delivery) => <StateOf delivery={delivery} /> },
                  {
                    label: 'Attempts',
                    right: true,
                    wide: true,
                    cell: ({ attemptCount }) => number(attemptCount),
                  },
                  {
                    label: 'Actions',
                    hiddenLabel: true,
                    right: true,
                    cell: (delivery) => (
                      <RowActions>
                        <Button
                          size="compact-sm"
                          variant="default"
                          aria-label={`View ${delivery.type} ${delivery.eventId}`}
                          onClick={() => void navigate({ search: (s) => ({ ...s, delivery: delivery.id }) })}
                        >
                          View
                        </Button>
                        <Button
                          size="compact-sm"
                          variant="default"
                          disabled={!enabled || !may('resendEvents')}
                          aria-label={`Resend ${delivery.type} ${delivery.eventId}`}
                          onClick={() => resendOne(delivery)}
                        >
                          Resend
                        </Button>
                      </RowActions>
                    ),
                  },
                ]}
              />
            ) : (
              <Text c="dimmed">
                {state
                  ? 'No deliveries with this status.'
                  : 'No deliveries yet. Send a test event, or wait for the first event.'}
              </Text>
            )}
            <Pager after={after} next={page?.next} />
            <Dialog opened={open !== undefined} onClose={close} size="xl" title="Delivery">
              {open && <OneDelivery delivery={open} />}
            </Dialog>
            <FormDialog opened={resending} onClose={() => setResending(false)} title="Resend failed events">
              <ResendFailedForm appId={appId} endpointId={endpointId} onDone={() => setResending(false)} />
            </FormDialog>
          </Stack>
        )
      }}
    </Loaded>
  )
}

function StateOf({ delivery: { state, nextAttemptAt, attempts } }: { delivery: Delivery }) {
  const last = attempts.at(-1)
  return (
    <>
      <Tag tone={STATES[state]}>{state.charAt(0) + state.slice(1).toLowerCase()}</Tag>
      {last && state !== 'SUCCEEDED' && (
        <Text size="xs" c="dimmed" mt="xxs">
          {outcomeOf(last)}
          {nextAttemptAt !== null && (
            <>
              {' '}
              Next attempt <When at={nextAttemptAt} time="seconds" />.
            </>
          )}
        </Text>
      )}
    </>
  )
}

const outcomeOf = ({ status, error }: Attempt) =>
  status === null ? `No response: ${error ?? 'unknown'}.` : `Responded with ${status}.`

/** The request, and every answer to it. */
function OneDelivery({ delivery }: { delivery: Delivery }) {
  const { type, eventId, attempts, attemptCount, body } = delivery
  return (
    <Stack>
      <Text size="sm">
        {type}, {delivery.state.toLowerCase()} after {units(attemptCount, 'attempt', 'attempts')}. Every
        request has the ID {eventId} and the same body.
      </Text>
      {body === null ? (
        <Text size="sm" c="dimmed">
          The event is past its retention period.
        </Text>
      ) : (
        <CodeBlock label="Body of the request" text={JSON.stringify(JSON.parse(body), null, 2)} />
      )}
      {attempts.length === 0 ? (
        <Text size="sm" c="dimmed">
          No attempt yet.
        </Text>
      ) : (
        <DataTable
          label="Attempts"
          rows={attempts.toReversed()}
          keyOf={({ at }) => at}
          columns={[
            { label: 'At', cell: ({ at }) => <When at={at} time="seconds" /> },
            { label: 'Outcome', cell: outcomeOf },
            { label: 'Took', right: true, cell: ({ durationMs }) => `${number(durationMs)} ms` },
            {
              label: 'Response',
              cell: ({ body }) => (
                <Text size="xs" ff="monospace" className="break">
                  {body}
                </Text>
              ),
            },
          ]}
        />
      )}
    </Stack>
  )
}
