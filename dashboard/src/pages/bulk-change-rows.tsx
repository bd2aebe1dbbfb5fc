import { SegmentedControl, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pager } from '../ui/pager.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'
import { UserLink } from '../ui/user-link.tsx'

const ROWS = graphql(`
  query BulkChangeRows($appId: String!, $id: String!, $outcome: BulkChangeOutcome, $after: String) {
    bulkChangeRows(appId: $appId, id: $id, outcome: $outcome, after: $after) {
      next
      rows { number userId userName outcome message }
    }
  }
`)

type Row = NonNullable<ResultOf<typeof ROWS>['bulkChangeRows']>['rows'][number]

const OUTCOMES: Record<Row['outcome'], { label: string; tone: Tone }> = {
  CHANGE: { label: 'Will change', tone: 'warn' },
  SKIP: { label: 'Skipped', tone: 'plain' },
  DONE: { label: 'Changed', tone: 'good' },
  REFUSED: { label: 'Refused', tone: 'bad' },
  UNDONE: { label: 'Undone', tone: 'plain' },
  KEPT: { label: 'Kept', tone: 'warn' },
}

interface RowsProps {
  appId: string
  one: { id: string; state: string; undone: number; kept: number }
}

/** The rows of a bulk change, by outcome. */
export function BulkChangeRows({ appId, one }: RowsProps) {
  const { outcome, after } = useSearch({ from: '/inside/apps/$app/bulk' })
  const navigate = useNavigate({ from: '/apps/$app/bulk' })
  const asked = useAsk(
    ROWS,
    { appId, id: one.id, outcome: outcome ?? null, after: after ?? null },
    { keepPrevious: true },
  )
  const offered: Row['outcome'][] = one.state === 'CHECKED' ? ['CHANGE', 'SKIP'] : ['DONE', 'REFUSED', 'SKIP']
  if (one.state === 'STOPPED') offered.unshift('CHANGE')
  if (one.undone + one.kept > 0) offered.push('UNDONE', 'KEPT')
  return (
    <Stack gap="sm">
      <SegmentedControl
        w="fit-content"
        maw="100%"
        aria-label="Which rows"
        value={outcome ?? 'all'}
        onChange={(value) =>
          void navigate({
            search: { id: one.id, ...(value !== 'all' && { outcome: value as Row['outcome'] }) },
            replace: true,
          })
        }
        data={[
          { value: 'all', label: 'All' },
          ...offered.map((value) => ({ value, label: OUTCOMES[value].label })),
        ]}
      />
      <Loaded of={asked}>
        {({ bulkChangeRows: page }) =>
          page?.rows.length === 0 ? (
            <Text c="dimmed">No rows.</Text>
          ) : (
            <>
              <DataTable
                label="Rows of the change"
                rows={page?.rows ?? []}
                keyOf={(row) => String(row.number)}
                columns={[
                  {
                    label: 'User',
                    cell: ({ userId, userName }) =>
                      userId === null ? (
                        'Deleted user'
                      ) : (
                        <UserLink appId={appId} id={userId} name={userName} />
                      ),
                  },
                  {
                    label: 'Result',
                    cell: ({ outcome }) => <Tag tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].label}</Tag>,
                  },
                  { label: 'Why', cell: ({ message }) => message },
                ]}
              />
              <Pager after={after} next={page?.next} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}
