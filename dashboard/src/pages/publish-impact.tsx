import { Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { OVER_ALL_USERS_MS } from '../api/answer-in-time.ts'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { number, withNumbers } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { Tag } from '../ui/tag.tsx'
import { UserLink } from '../ui/user-link.tsx'

export const PREVIEW = graphql(`
  query PublishPreview($appId: String!, $packageId: String!, $for: Reach!) {
    publishPreview(appId: $appId, packageId: $packageId, for: $for) {
      subscribers gain lose moreOverage lessOverage
      features { featureId name gain lose }
      touched {
        next
        rows { userId name email featureId change before { reason } after { reason reasonCode } }
      }
    }
  }
`)
const TOUCHED = graphql(`
  query PublishTouched($appId: String!, $packageId: String!, $for: Reach!, $after: String!) {
    publishTouched(appId: $appId, packageId: $packageId, for: $for, after: $after) {
      next
      rows { userId name email featureId change before { reason } after { reason reasonCode } }
    }
  }
`)
export type Preview = NonNullable<ResultOf<typeof PREVIEW>['publishPreview']>

const isTouched = ({ gain, lose, moreOverage, lessOverage }: Preview) =>
  gain + lose + moreOverage + lessOverage > 0

/** How many are affected by publishing. */
export function PublishFigures({ preview }: { preview: Preview }) {
  const { for: reach = 'ALL' } = useSearch({ from: '/inside/apps/$app/packages/$id/publish' })
  const { subscribers, gain, lose, moreOverage, lessOverage } = preview
  return (
    <Stack gap="md">
      <Title order={2}>Who is affected</Title>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 5 }} spacing="sm">
        <Figure label="subscribers now" value={subscribers} />
        <Figure label="gain access" value={gain} tone="good" />
        <Figure label="lose access" value={lose} tone="bad" />
        <Figure label="more overage" value={moreOverage} tone="bad" />
        <Figure label="less overage" value={lessOverage} tone="good" />
      </SimpleGrid>
      {!isTouched(preview) && <Text c="dimmed">{UNTOUCHED[reach]}</Text>}
      {lose > 0 && (
        <Note tone="bad">
          Users lose access if they have already used the new limit, or if the feature is removed.
        </Note>
      )}
      {moreOverage > 0 && (
        <Note tone="warn">
          Overage is on, so usage beyond the new limit is not refused: for{' '}
          {moreOverage === 1 ? 'one subscriber' : `${number(moreOverage)} subscribers`}, more of it counts as
          overage.
        </Note>
      )}
    </Stack>
  )
}

interface PublishTouchedProps {
  preview: Preview
  app: string
  packageId: string
}

/** Who they are. */
export function PublishTouched({ preview, app, packageId }: PublishTouchedProps) {
  const { after, for: reach = 'ALL' } = useSearch({ from: '/inside/apps/$app/packages/$id/publish' })
  if (!isTouched(preview)) return null
  if (after === undefined) return <Touched page={preview.touched} preview={preview} app={app} />
  return <FurtherTouched after={after} reach={reach} preview={preview} app={app} packageId={packageId} />
}

const UNTOUCHED = {
  ALL: 'At current usage, nobody gains or loses access or goes into overage.',
  NEW_ONLY: 'Current subscribers are not affected.',
  AT_PERIOD_END: 'When their period ends, nobody gains or loses access or goes into overage.',
}

interface FurtherTouchedProps extends PublishTouchedProps {
  after: string
  reach: keyof typeof UNTOUCHED
}

function FurtherTouched({ after, reach, preview, app, packageId }: FurtherTouchedProps) {
  const asked = useAsk(
    TOUCHED,
    { appId: app, packageId, for: reach, after },
    { keepPrevious: true, patienceMs: OVER_ALL_USERS_MS },
  )
  return (
    <Loaded of={asked}>
      {({ publishTouched }) =>
        publishTouched && <Touched page={publishTouched} after={after} preview={preview} app={app} />
      }
    </Loaded>
  )
}

interface TouchedProps {
  page: Preview['touched']
  after?: string
  preview: Preview
  app: string
}

function Touched({ page, after, preview, app }: TouchedProps) {
  return (
    <Stack gap="md">
      {page.rows.length > 0 && <Title order={2}>Affected users</Title>}
      <DataTable
        label="Who is affected"
        rows={page.rows}
        keyOf={({ userId, featureId }) => `${userId} ${featureId}`}
        columns={[
          {
            label: 'User',
            cell: ({ userId, name }) => <UserLink appId={app} id={userId} name={name} />,
          },
          {
            label: 'Feature',
            cell: ({ featureId }) => (
              <AnchorLink to="/apps/$app/features/$id" params={{ app, id: featureId }} size="sm">
                {preview.features.find((feature) => feature.featureId === featureId)?.name ?? featureId}
              </AnchorLink>
            ),
          },
          {
            label: 'Change',
            cell: ({ change, after }) => (
              <Group gap="xs">
                <Tag tone={CHANGES[change].tone}>{CHANGES[change].label}</Tag>
                {change === 'GAINS' && after.reasonCode === 'OVERAGE' && <Tag tone="warn">Overage</Tag>}
              </Group>
            ),
          },
          { label: 'Now', wide: true, cell: ({ before }) => withNumbers(before.reason) },
          { label: 'Then', wide: true, cell: ({ after }) => withNumbers(after.reason) },
        ]}
      />
      <Pager after={after} next={page.next} />
    </Stack>
  )
}

const CHANGES = {
  LOSES: { label: 'Loses access', tone: 'bad' },
  MORE_OVERAGE: { label: 'More overage', tone: 'warn' },
  GAINS: { label: 'Gains access', tone: 'good' },
  LESS_OVERAGE: { label: 'Less overage', tone: 'good' },
} as const

function Figure({ label, value, tone }: { label: string; value: number; tone?: 'good' | 'bad' }) {
  return (
    <Paper p="md" radius="md">
      <Text fz={26} fw={650} lh={1.2} className="numbers" {...(tone && value > 0 && { c: TONES[tone] })}>
        {number(value)}
      </Text>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
    </Paper>
  )
}

const TONES = { good: 'light-dark(#0f5c33, #8fdcb0)', bad: 'light-dark(#a01c1c, #ffa8a8)' }
