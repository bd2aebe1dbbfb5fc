import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ExportLink } from '../ui/export-rows.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number, units } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { providerName } from '../ui/price.ts'
import { RowActions } from '../ui/row-actions.tsx'
import { Name } from '../ui/sentence.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'

const NOTICES = graphql(`
  query Notices($appId: String!, $state: NoticeState, $after: String) {
    notices(appId: $appId, state: $state, first: 51, after: $after) {
      id provider eventId type state attempts lastError receivedAt user { text subject { kind appId id } }
    }
    noticeCounts(appId: $appId) { pending done failed }
  }
`)
const NOTICE = graphql(`
  query Notice($appId: String!, $id: String!) {
    notice(appId: $appId, id: $id) { id type state attempts lastError payload receivedAt handledAt user { text subject { kind appId id } } }
  }
`)
const REPLAY = graphql(`
  mutation ReplayNotice($appId: String!, $id: String!) {
    replayNotice(appId: $appId, id: $id) { id }
  }
`)
const REPLAY_FAILED = graphql(`
  mutation ReplayFailedNotices($appId: String!) {
    replayFailedNotices(appId: $appId)
  }
`)
const RECONCILE = graphql(`
  mutation ReconcileBilling($appId: String!) {
    reconcileBilling(appId: $appId)
  }
`)

const STATES = { PENDING: 'warn', DONE: 'good', FAILED: 'bad' } as const satisfies Record<string, Tone>
type State = keyof typeof STATES
/** One more is asked for, to know whether there is a next page. */
const PAGE = 50

/** Provider notices and their outcomes. */
export function Notices({ appId }: { appId: string }) {
  const may = useMay()
  const { state, after, notice } = useSearch({ from: '/inside/apps/$app/billing' })
  const navigate = useNavigate({ from: '/apps/$app/billing' })
  const chosen = state !== undefined && state in STATES ? (state as State) : null
  const asked = useAsk(
    NOTICES,
    { appId, state: chosen, after: after ?? null },
    { keepPrevious: true, refetchInterval: 5_000 },
  )
  const replay = useChange(REPLAY, { said: 'Processing the webhook event again.' })
  const replayFailed = useChange(REPLAY_FAILED, {
    said: ({ replayFailedNotices }) =>
      `Processing ${units(replayFailedNotices ?? 0, 'webhook event', 'webhook events')} again.`,
  })
  const reconcile = useChange(RECONCILE, {
    said: ({ reconcileBilling }) =>
      `Syncing ${units(reconcileBilling ?? 0, 'checkout or subscription', 'checkouts and subscriptions')} with the provider.`,
  })
  return (
    <Loaded of={asked}>
      {({ notices, noticeCounts: counts }) => (
        <Stack>
          <FormAlert error={replay.error ?? replayFailed.error ?? reconcile.error} />
          <Group justify="space-between">
            <SegmentedControl
              aria-label="Status"
              value={chosen ?? 'all'}
              onChange={(value) =>
                void navigate({ search: { tab: 'notices', ...(value !== 'all' && { state: value }) } })
              }
              data={[
                { value: 'all', label: 'All' },
                { value: 'PENDING', label: `Pending ${number(counts.pending)}` },
                { value: 'FAILED', label: `Failed ${number(counts.failed)}` },
                { value: 'DONE', label: `Done ${number(counts.done)}` },
              ]}
            />
            <Group gap="xs">
              <ExportLink list="webhook-events" query={{ app: appId, state: chosen }} />
              {counts.failed > 0 && (
                <Button
                  variant="default"
                  loading={replayFailed.isPending}
                  disabled={!may('replayFailedNotices')}
                  onClick={() => replayFailed.mutate({ appId })}
                >
                  Replay all failed
                </Button>
              )}
              <Button
                variant="default"
                loading={reconcile.isPending}
                disabled={!may('reconcileBilling')}
                onClick={() => reconcile.mutate({ appId })}
              >
                Sync with provider
              </Button>
            </Group>
          </Group>
          {notices.length === 0 ? (
            <Text c="dimmed">
              No webhook events yet. When a user pays, the provider's events appear here and are processed
              automatically.
            </Text>
          ) : (
            <DataTable
              label="Webhook events"
              rows={notices.slice(0, PAGE)}
              keyOf={({ id }) => id}
              columns={[
                { label: 'Received', cell: ({ receivedAt }) => <When at={receivedAt} time /> },
                {
                  label: 'Event',
                  cell: ({ type, provider, eventId }) => (
                    <>
                      {type}
                      <Text size="xs" c="dimmed" ff="monospace">
                        {providerName(provider)} {eventId}
                      </Text>
                    </>
                  ),
                },
                { label: 'User', wide: true, cell: ({ user }) => user && <Name {...user} /> },
                {
                  label: 'Status',
                  cell: ({ state, lastError }) => (
                    <>
                      <Tag tone={STATES[state]}>{state.charAt(0) + state.slice(1).toLowerCase()}</Tag>
                      {lastError !== null && (
                        <Text size="xs" c="dimmed" mt="xxs">
                          {lastError}
                        </Text>
                      )}
                    </>
                  ),
                },
                { label: 'Attempts', right: true, wide: true, cell: ({ attempts }) => number(attempts) },
                {
                  label: 'Actions',
                  hiddenLabel: true,
                  right: true,
                  cell: ({ id, eventId }) => (
                    <RowActions>
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`View ${eventId}`}
                        onClick={() => void navigate({ search: (s) => ({ ...s, notice: id }) })}
                      >
                        View
                      </Button>
                      <Button
                        size="compact-sm"
                        variant="default"
                        disabled={!may('replayNotice')}
                        aria-label={`Replay ${eventId}`}
                        onClick={() => replay.mutate({ appId, id })}
                      >
                        Replay
                      </Button>
                    </RowActions>
                  ),
                },
              ]}
            />
          )}
          <Pager after={after} next={notices.length > PAGE ? (notices[PAGE - 1]?.id ?? null) : null} />
          <Dialog
            opened={notice !== undefined}
            onClose={() => void navigate({ search: ({ notice, ...rest }) => rest })}
            size="lg"
            title="Webhook event"
          >
            {notice !== undefined && <Payload appId={appId} id={notice} />}
          </Dialog>
        </Stack>
      )}
    </Loaded>
  )
}

function Payload({ appId, id }: { appId: string; id: string }) {
  const asked = useAsk(NOTICE, { appId, id })
  return (
    <Loaded of={asked}>
      {({ notice }) =>
        notice && (
          <Stack>
            <Text size="sm">
              {notice.type}
              {notice.user && (
                <>
                  {' '}
                  about <Name {...notice.user} />
                </>
              )}
              , {notice.state.toLowerCase()} after {units(notice.attempts, 'attempt', 'attempts')}. Received{' '}
              <When at={notice.receivedAt} time />
              {notice.handledAt !== null && (
                <>
                  , handled <When at={notice.handledAt} time />
                </>
              )}
              .
            </Text>
            <CodeBlock label="Webhook payload" text={JSON.stringify(notice.payload, null, 2)} />
          </Stack>
        )
      }
    </Loaded>
  )
}
