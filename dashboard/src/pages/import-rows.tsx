import { SegmentedControl, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { Name } from '../ui/sentence.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'

const ROWS = graphql(`
  query UserImportRows($appId: String!, $id: String!, $outcome: ImportOutcome, $after: String) {
    userImportRows(appId: $appId, id: $id, outcome: $outcome, after: $after) {
      next
      rows {
        line user { text subject { kind appId id } } userId outcome message plan
        oldEmail newEmail oldBillingId newBillingId oldName newName oldMetadata newMetadata
      }
    }
  }
`)
type Row = NonNullable<ResultOf<typeof ROWS>['userImportRows']>['rows'][number]
type Outcome = Row['outcome']

const OUTCOMES: Record<Outcome, { label: string; tone: Tone }> = {
  BAD: { label: 'Invalid', tone: 'bad' },
  UNCHANGED: { label: 'Unchanged', tone: 'plain' },
  CHANGE: { label: 'Would change', tone: 'warn' },
  CREATE: { label: 'Would be created', tone: 'warn' },
  APPLIED: { label: 'Changed', tone: 'good' },
  CREATED: { label: 'Created', tone: 'good' },
  REFUSED: { label: 'Refused', tone: 'bad' },
  UNDONE: { label: 'Undone', tone: 'plain' },
  KEPT: { label: 'Kept', tone: 'warn' },
}

interface ImportRowsProps {
  appId: string
  one: { id: string; state: string; newUsers: number; refused: number }
}

/** The rows of an import with their outcomes. */
export function ImportRows({ appId, one }: ImportRowsProps) {
  const { outcome, after } = useSearch({ from: '/inside/apps/$app/import' })
  const navigate = useNavigate({ from: '/apps/$app/import' })
  const chosen = outcome !== undefined && outcome in OUTCOMES ? (outcome as Outcome) : null
  const asked = useAsk(
    ROWS,
    { appId, id: one.id, outcome: chosen, after: after ?? null },
    { keepPrevious: true },
  )
  const isChecked = one.state === 'CHECKED'
  const offered: Outcome[] = ['BAD']
  if (one.newUsers > 0) offered.push(isChecked ? 'CREATE' : 'CREATED')
  offered.push(isChecked ? 'CHANGE' : 'APPLIED', 'UNCHANGED')
  if (one.refused > 0) offered.push('REFUSED')
  if (one.state === 'UNDONE') offered.push('UNDONE', 'KEPT')
  return (
    <Stack gap="sm">
      <SegmentedControl
        w="fit-content"
        maw="100%"
        aria-label="Which rows"
        value={chosen ?? 'all'}
        onChange={(value) =>
          void navigate({ search: { id: one.id, ...(value !== 'all' && { outcome: value }) }, replace: true })
        }
        data={[
          { value: 'all', label: 'All rows' },
          ...offered.map((value) => ({ value, label: OUTCOMES[value].label })),
        ]}
      />
      <Loaded of={asked}>
        {({ userImportRows: page }) =>
          page?.rows.length === 0 ? (
            <Text c="dimmed">No rows match.</Text>
          ) : (
            <>
              <DataTable
                label="Rows of the file"
                rows={page?.rows ?? []}
                keyOf={({ line }) => String(line)}
                columns={[
                  {
                    label: 'Line',
                    right: true,
                    cell: ({ line }) => (
                      <>
                        <Text span inherit hiddenFrom="sm">
                          Line{' '}
                        </Text>
                        {number(line)}
                      </>
                    ),
                  },
                  {
                    label: 'User',
                    cell: ({ user, userId }) =>
                      user && (
                        <>
                          <Name {...user} />
                          {user.text !== userId && (
                            <Text size="xs" c="dimmed" ff="monospace">
                              {userId}
                            </Text>
                          )}
                        </>
                      ),
                  },
                  {
                    label: 'Outcome',
                    cell: ({ outcome, message }) => (
                      <>
                        <Tag tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].label}</Tag>
                        {message !== null && (
                          <Text size="xs" c="dimmed" mt="xxs">
                            {message}
                          </Text>
                        )}
                      </>
                    ),
                  },
                  ...(page?.rows.some(hasName)
                    ? [
                        {
                          label: 'Name',
                          cell: (row: Row) => <Change from={row.oldName} to={row.newName} />,
                        },
                      ]
                    : []),
                  {
                    label: 'Email',
                    cell: (row) => <Change from={row.oldEmail} to={row.newEmail} />,
                  },
                  {
                    label: 'Billing id',
                    cell: (row) => <Change from={row.oldBillingId} to={row.newBillingId} />,
                  },
                  ...(page?.rows.some(({ plan }) => plan !== null)
                    ? [{ label: 'Plan', cell: ({ plan }: Row) => plan ?? '' }]
                    : []),
                  ...(page?.rows.some(hasMetadata)
                    ? [
                        {
                          label: 'Metadata',
                          cell: (row: Row) =>
                            hasMetadata(row) && <Change from={row.oldMetadata} to={row.newMetadata} />,
                        },
                      ]
                    : []),
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

const hasName = ({ oldName, newName }: Row) => oldName !== null || newName !== null
const hasMetadata = ({ oldMetadata, newMetadata }: Row) =>
  oldMetadata !== null || (newMetadata ?? '{}') !== '{}'

function Change({ from, to }: { from: string | null; to: string | null }) {
  if (from === to) return <>{to ?? ''}</>
  return (
    <Text size="sm" component="span">
      <Text span size="sm" c="dimmed" td="line-through">
        {from ?? 'none'}
      </Text>{' '}
      → <strong>{to ?? 'none'}</strong>
    </Text>
  )
}
