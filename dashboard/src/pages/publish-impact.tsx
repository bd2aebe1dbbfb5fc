import { Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { OVER_ALL_USERS_MS } from '../api/answer-in-time.ts'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { number } from '../ui/number.ts'
import { Pager } from '../ui/pager.tsx'
import { Tag } from '../ui/tag.tsx'

export const PREVIEW = graphql(`
  query PublishPreview($appId: String!, $packageId: String!, $for: Reach!) {
    publishPreview(appId: $appId, packageId: $packageId, for: $for) {
      subscribers gain lose
      features { featureId name gain lose }
      touched {
        next
        rows { userId name email featureId change before { reason } after { reason } }
      }
    }
  }
`)
const TOUCHED = graphql(`
  query PublishTouched($appId: String!, $packageId: String!, $for: Reach!, $after: String!) {
    publishTouched(appId: $appId, packageId: $packageId, for: $for, after: $after) {
      next
      rows { userId name email featureId change before { reason } after { reason } }
    }
  }
`)
export type Preview = NonNullable<ResultOf<typeof PREVIEW>['publishPreview']>

interface PublishImpactProps {
  preview: Preview
  app: string
  packageId: string
}

/** Who is affected by publishing, and how many. */
export function PublishImpact({ preview, app, packageId }: PublishImpactProps) {
  const { after, for: reach = 'ALL' } = useSearch({ from: '/inside/apps/$app/packages/$id/publish' })
  const touched = preview.gain + preview.lose > 0
  return (
    <Stack gap="md">
      <Title order={2}>Whom it touches</Title>
      <SimpleGrid cols={3}>
        <Figure label="subscribers now" value={preview.subscribers} />
        <Figure label="gain access" value={preview.gain} tone="good" />
        <Figure label="lose access" value={preview.lose} tone="bad" />
      </SimpleGrid>
      {!touched && <Text c="dimmed">{UNTOUCHED[reach]}</Text>}
      {preview.lose > 0 && (
        <Note tone="bad">
          Those who lose access have used more than the new budget allows, or the feature is no longer theirs.
        </Note>
      )}
      {touched &&
        (after === undefined ? (
          <Touched page={preview.touched} preview={preview} app={app} />
        ) : (
          <FurtherTouched after={after} reach={reach} preview={preview} app={app} packageId={packageId} />
        ))}
    </Stack>
  )
}

const UNTOUCHED = {
  ALL: 'At their present usage nobody gains or loses access to anything.',
  NEW_ONLY: 'Nobody who has the package now is touched.',
  AT_PERIOD_END: 'When their periods end, nobody gains or loses access to anything by it.',
}

interface FurtherTouchedProps extends PublishImpactProps {
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
    <>
      <DataTable
        label="Who gains or loses access"
        rows={page.rows}
        keyOf={({ userId, featureId }) => `${userId} ${featureId}`}
        columns={[
          {
            label: 'User',
            cell: ({ userId, name }) => (
              <Link to="/apps/$app/users/$id" params={{ app, id: userId }} className="row-link">
                {name ?? userId}
              </Link>
            ),
          },
          {
            label: 'Feature',
            cell: ({ featureId }) =>
              preview.features.find((feature) => feature.featureId === featureId)?.name ?? featureId,
          },
          {
            label: 'Access',
            cell: ({ change }) =>
              change === 'GAINS' ? <Tag tone="good">gains</Tag> : <Tag tone="bad">loses</Tag>,
          },
          { label: 'Now', wide: true, cell: ({ before }) => before.reason },
          { label: 'Then', wide: true, cell: ({ after }) => after.reason },
        ]}
      />
      <Pager after={after} next={page.next} />
    </>
  )
}

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
