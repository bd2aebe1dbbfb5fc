import { Button, Modal, SegmentedControl, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useApp, useAppId } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ObjectDiff } from '../ui/object-diff.tsx'
import { Page } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { When } from '../ui/when.tsx'

const AUDIT = graphql(`
  query AuditLog($appId: String, $after: String) {
    auditLog(appId: $appId, after: $after) {
      next
      rows { id at memberEmail sentence subjectId before after }
    }
  }
`)
type Entry = NonNullable<ResultOf<typeof AUDIT>['auditLog']>['rows'][number]

export function AuditPage() {
  const appId = useAppId()
  const app = useApp()
  const { of = 'app', after } = useSearch({ from: '/inside/apps/$app/audit' })
  const navigate = useNavigate({ from: '/apps/$app/audit' })
  const [open, setOpen] = useState<Entry | null>(null)
  const asked = useAsk(
    AUDIT,
    { appId: of === 'app' ? appId : null, after: after ?? null },
    { keepPrevious: true },
  )
  return (
    <Page title="Audit log" about="Who changed what in this dashboard, and what it was before.">
      <SegmentedControl
        w="fit-content"
        aria-label="Of what"
        value={of}
        onChange={(of) => void navigate({ search: { of: of as 'app' | 'all' } })}
        data={[
          { value: 'app', label: app?.name ?? appId },
          { value: 'all', label: 'Everything' },
        ]}
      />
      <Loaded of={asked}>
        {({ auditLog }) =>
          auditLog?.rows.length === 0 ? (
            <Text c="dimmed">Nothing was changed here yet.</Text>
          ) : (
            <Stack gap="sm">
              <DataTable
                label="Audit log"
                rows={auditLog?.rows ?? []}
                keyOf={({ id }) => id}
                columns={[
                  { label: 'When', cell: ({ at }) => <When at={at} time /> },
                  { label: 'Who', wide: true, cell: ({ memberEmail }) => memberEmail },
                  {
                    label: 'What',
                    cell: ({ sentence, subjectId }) => (
                      <>
                        <Text size="sm" fw={550}>
                          {sentence}
                        </Text>
                        <Text size="xs" c="dimmed" ff="monospace">
                          {subjectId}
                        </Text>
                      </>
                    ),
                  },
                  {
                    label: 'Details',
                    hiddenLabel: true,
                    right: true,
                    cell: (entry) => (
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={`Details: ${entry.memberEmail} ${entry.sentence}`}
                        onClick={() => setOpen(entry)}
                      >
                        Details
                      </Button>
                    ),
                  },
                ]}
              />
              <Pager after={after} next={auditLog?.next} />
            </Stack>
          )
        }
      </Loaded>
      <Modal
        opened={open !== null}
        onClose={() => setOpen(null)}
        size="lg"
        title={open && `${open.memberEmail} ${open.sentence}`}
      >
        {open && <ObjectDiff before={open.before} after={open.after} />}
      </Modal>
    </Page>
  )
}
