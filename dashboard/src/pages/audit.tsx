import { Anchor, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useApp, useAppId } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ObjectDiff } from '../ui/object-diff.tsx'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { Sentence } from '../ui/sentence.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { When } from '../ui/when.tsx'
import { AuditFilters, type AuditSearch, ExportAudit, queryOf } from './audit-filters.tsx'

const AUDIT = graphql(`
  query AuditLog($appId: String, $actorKind: ActorKind, $who: String, $operation: String, $subjectId: String,
      $from: String, $to: String, $after: String) {
    auditLog(appId: $appId, actorKind: $actorKind, who: $who, operation: $operation, subjectId: $subjectId,
        from: $from, to: $to, after: $after) {
      next
      rows { id at actorKind actor memberEmail source appId sentence parts { text at subject { kind appId id } } subjectId before after }
    }
  }
`)
type Entry = NonNullable<ResultOf<typeof AUDIT>['auditLog']>['rows'][number]

const NAMES = graphql(`
  query AuditNames($appId: String!) {
    features(appId: $appId) { id name }
    packages(appId: $appId) { id name }
  }
`)

export function AuditPage() {
  const appId = useAppId()
  const app = useApp()
  const { of = 'app', after, ...search } = useSearch({ from: '/inside/apps/$app/audit' })
  const navigate = useNavigate({ from: '/apps/$app/audit' })
  const [open, setOpen] = useState<Entry | null>(null)
  const filtered = Object.keys(search).length > 0
  const asked = useAsk(
    AUDIT,
    { appId: of === 'app' ? appId : null, after: after ?? null, ...queryOf(search) },
    { keepPrevious: true },
  )
  const show = (search: AuditSearch) =>
    void navigate({ search: { ...search, ...(of === 'all' && { of }) }, replace: true })
  return (
    <Page
      title="Audit log"
      about="Changes made in the dashboard, through the API and by billing providers, and sign-ins."
      actions={<ExportAudit appId={of === 'app' ? appId : null} search={search} />}
    >
      <SegmentedControl
        w="fit-content"
        aria-label="Of what"
        value={of}
        onChange={(of) => void navigate({ search: { ...search, of: of as 'app' | 'all' } })}
        data={[
          { value: 'app', label: app?.name ?? appId },
          { value: 'all', label: 'Everything' },
        ]}
      />
      <AuditFilters appId={appId} search={search} onChange={show} />
      <Loaded of={asked} skeleton={<SkeletonTable />}>
        {({ auditLog }) => (
          <Stack gap="sm">
            {auditLog?.rows.length === 0 ? (
              <Text c="dimmed">
                {auditLog.next
                  ? 'No matches on this page. Select Next to continue.'
                  : filtered || after !== undefined
                    ? 'No entries match these filters.'
                    : 'No changes yet.'}
              </Text>
            ) : (
              <DataTable
                label="Audit log"
                rows={auditLog?.rows ?? []}
                keyOf={({ id }) => id}
                columns={columns((change) => show({ ...search, ...change }), setOpen)}
              />
            )}
            <Pager after={after} next={auditLog?.next} />
          </Stack>
        )}
      </Loaded>
      <Dialog
        opened={open !== null}
        onClose={() => setOpen(null)}
        size="lg"
        title={open && `${open.actor} ${open.sentence}`}
      >
        {open && <Details entry={open} />}
      </Dialog>
    </Page>
  )
}

const columns = (narrow: (change: AuditSearch) => void, open: (entry: Entry) => void) => [
  { label: 'When', cell: ({ at }: Entry) => <When at={at} time /> },
  {
    label: 'Who',
    wide: true,
    cell: (entry: Entry) => (
      <>
        {entry.memberEmail === '' ? (
          entry.actor
        ) : (
          <Anchor
            component="button"
            size="sm"
            ta="left"
            title="Only their changes"
            onClick={() => narrow({ who: entry.memberEmail })}
          >
            {entry.actor}
          </Anchor>
        )}
        {entry.actorKind === 'API_KEY' && (
          <>
            {' '}
            <Tag>API key</Tag>
          </>
        )}
        {entry.source !== null && (
          <Text size="xs" c="dimmed">
            from {entry.source}
          </Text>
        )}
      </>
    ),
  },
  {
    label: 'What',
    cell: ({ parts, subjectId, actor }: Entry) => (
      <>
        <Text size="sm" fw={550}>
          <Sentence parts={parts} />
        </Text>
        <Group gap="xs">
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {actor}
          </Text>
          {subjectId !== null && (
            <Anchor
              component="button"
              size="xs"
              c="dimmed"
              ff="monospace"
              ta="left"
              title="Only changes to this"
              onClick={() => narrow({ subject: subjectId })}
            >
              {subjectId}
            </Anchor>
          )}
        </Group>
      </>
    ),
  },
  {
    label: 'Details',
    hiddenLabel: true,
    right: true,
    cell: (entry: Entry) => (
      <Button
        size="compact-sm"
        variant="default"
        data-main
        aria-label={`Details: ${entry.actor} ${entry.sentence}`}
        onClick={() => open(entry)}
      >
        Details
      </Button>
    ),
  },
]

function Details({ entry }: { entry: Entry }) {
  const { actorKind, actor, memberEmail, source, appId, at, before, after } = entry
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        <When at={at} time />
        {actorKind === 'API_KEY' && ` · by the API key ${actor} (${memberEmail})`}
        {actorKind === 'PROVIDER' && ` · reported by ${actor}`}
        {source !== null && ` · from ${source}`}
      </Text>
      {appId === null ? (
        <ObjectDiff before={before} after={after} />
      ) : (
        <NamedDiff appId={appId} before={before} after={after} />
      )}
    </Stack>
  )
}

function NamedDiff({ appId, before, after }: Pick<Entry, 'before' | 'after'> & { appId: string }) {
  const { data } = useAsk(NAMES, { appId })
  const names = new Map(
    [...(data?.features ?? []), ...(data?.packages ?? [])].map((one) => [one.id, one.name]),
  )
  return <ObjectDiff before={before} after={after} nameOf={(id) => names.get(id) ?? id} />
}
