import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { type CatalogueFeature, grantText } from '../grants.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Note } from '../ui/note.tsx'
import { number, units, withNumbers } from '../ui/number.ts'
import { Sentence } from '../ui/sentence.tsx'
import { Tag } from '../ui/tag.tsx'
import { UsageBar } from '../ui/usage-bar.tsx'
import { When } from '../ui/when.tsx'
import classes from './playground.module.css'

export const EXPLAIN = graphql(`
  query Explain($appId: String!, $userId: String!, $featureId: String!, $delta: Int!, $entities: [String!]!) {
    explain(appId: $appId, userId: $userId, featureId: $featureId, delta: $delta, entities: $entities) {
      access reason reasonCode deniedBy periodStart periodEnd
      consumption { used budget overageEnabled reserved remaining }
      steps { step passed parts { text at subject { kind appId id } } }
      subscriptions {
        id packageId packageName isAddon live startedAt cancelAt cancelledAt
        grant { id limit resetPeriod overageEnabled overageCap caps { limit period perEntity } }
      }
    }
  }
`)
type Explanation = NonNullable<ResultOf<typeof EXPLAIN>['explain']>

type Consumption = NonNullable<Explanation['consumption']>

/** Units left in all sources, as text. */
function leftText({ remaining, reserved }: Consumption, labels: CatalogueFeature | undefined): string {
  const amount = (value: number) => units(value, labels?.unitLabel, labels?.unitLabelPlural)
  const left = remaining === null ? 'Unlimited' : `${amount(remaining)} left`
  return reserved > 0 ? `${left}, ${number(reserved)} reserved` : left
}

interface AnswerProps {
  appId: string
  explanation: Explanation
  /** absent: there is no such feature */
  feature: CatalogueFeature | undefined
  /** Control that records the checked usage; absent if the feature is not counted. */
  record: ReactNode
}

/** Why access is granted or denied. */
export function PlaygroundAnswer({ appId, explanation, feature: granted, record }: AnswerProps) {
  const { access, reason, reasonCode, deniedBy, consumption, steps, periodStart, periodEnd, subscriptions } =
    explanation
  return (
    <Stack gap="lg">
      <Note tone={access ? 'good' : 'bad'} title={access ? 'Access granted' : 'Access denied'} role="status">
        {withNumbers(reason)}{' '}
        <Tag tone={access ? 'good' : 'bad'} title={reasonCode}>
          {(reasonCode.charAt(0) + reasonCode.slice(1).toLowerCase()).replaceAll('_', ' ')}
        </Tag>
        {deniedBy !== null && (
          <>
            {' '}
            <Tag tone="bad" title="Limit that denied the check">
              by {deniedBy === 'PLAN' ? 'the sources' : deniedBy}
            </Tag>
          </>
        )}
      </Note>
      {consumption && periodStart !== null && <UsageBar label="Used" {...consumption} labels={granted} />}
      {consumption && (
        <Group justify="space-between">
          <Text size="sm" className="numbers">
            {leftText(consumption, granted)}
          </Text>
          {record}
        </Group>
      )}
      <Paper radius="md" p="md">
        <Title order={2} mb="sm">
          Step by step
        </Title>
        <ol className={classes.steps}>
          {steps.map(({ step, passed, parts }) => (
            <li key={step} data-passed={passed}>
              <Text size="xs" fw={650} c="dimmed" tt="capitalize">
                {step.toLowerCase()}
              </Text>
              <Text size="sm" className="break">
                {step === 'ANSWER' ? withNumbers(reason) : <Sentence parts={parts} />}
                {step === 'BUDGET' && periodStart !== null && <Period start={periodStart} end={periodEnd} />}
              </Text>
            </li>
          ))}
        </ol>
      </Paper>
      {subscriptions.length > 0 && (
        <DataTable
          label="Subscriptions considered"
          rows={subscriptions}
          keyOf={({ id }) => id}
          columns={[
            {
              label: 'Subscription',
              cell: ({ packageId, packageName, isAddon }) => (
                <Group gap="xs">
                  <Link
                    to="/apps/$app/packages/$id"
                    params={{ app: appId, id: packageId }}
                    className="row-link"
                  >
                    {packageName}
                  </Link>
                  {isAddon && <Tag tone="accent">Add-on</Tag>}
                </Group>
              ),
            },
            {
              label: 'Status',
              cell: ({ live }) => (live ? <Tag tone="good">Live</Tag> : <Tag>Ended</Tag>),
            },
            { label: 'Since', wide: true, cell: ({ startedAt }) => <When at={startedAt} /> },
            { label: 'Grants', cell: ({ grant }) => (grant ? grantText(grant, granted) : 'Not granted') },
          ]}
        />
      )}
    </Stack>
  )
}

/** When the current period started, and when it resets. */
function Period({ start, end }: { start: string; end: string | null }) {
  if (end === null) return ' It never resets.'
  return (
    <>
      {' '}
      Counted from <When at={start} time /> until <When at={end} time />.
    </>
  )
}
