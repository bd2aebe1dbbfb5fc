import {
  Button,
  Grid,
  Group,
  NumberInput,
  Paper,
  Select,
  Stack,
  Tabs,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { required } from '../forms/onto-fields.ts'
import { RecordUsageForm } from '../forms/record-usage-form.tsx'
import { grantText } from '../grants.ts'
import { adminCall, curl, quoted, sdk } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { number, units, withNumbers } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { Sentence } from '../ui/sentence.tsx'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'
import { UsageBar } from '../ui/usage-bar.tsx'
import { UserInput } from '../ui/user-input.tsx'
import { When } from '../ui/when.tsx'
import classes from './playground.module.css'

const CHOICES = graphql(`
  query PlaygroundChoices($appId: String!) {
    features(appId: $appId) { id name type unitLabel unitLabelPlural }
  }
`)
const EXPLAIN = graphql(`
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
type Choices = ResultOf<typeof CHOICES>['features']

export function PlaygroundPage() {
  const appId = useAppId()
  const {
    user = '',
    feature = '',
    delta = '1',
    entities = '',
  } = useSearch({ from: '/inside/apps/$app/playground' })
  const navigate = useNavigate({ from: '/apps/$app/playground' })
  const choices = useAsk(CHOICES, { appId }).data?.features ?? []
  const asked = user !== '' && feature !== ''
  const amount = Math.max(0, Math.trunc(Number(delta)) || 0)
  const explanation = useAsk(
    EXPLAIN,
    { appId, userId: user, featureId: feature, delta: amount, entities: entitiesIn(entities) },
    { enabled: asked },
  )
  const may = useMay()
  const [recording, setRecording] = useState(false)
  const chosen = choices.find(({ id, type }) => id === feature && type === 'CONSUMABLE')
  const form = useForm({
    initialValues: { user, feature: feature as string | null, delta: amount as number | '', entities },
    validate: { user: required('The user'), feature: required('The feature') },
  })
  const ask = form.onSubmit(({ user, feature, delta, entities }) => {
    void navigate({
      search: {
        user,
        feature: feature ?? '',
        ...(delta !== 1 && { delta: String(delta) }),
        ...(entities.trim() !== '' && { entities: entitiesIn(entities).join(' ') }),
      },
    })
    // Repeat the same question: the answer may have changed.
    if (asked) void explanation.refetch()
  })
  return (
    <Page title="Playground" about="Check whether a user can use a feature, and see why.">
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 4 }}>
          <form noValidate onSubmit={ask}>
            <Stack>
              <UserInput
                appId={appId}
                label="User"
                description="Find by name, email or id"
                placeholder="ada"
                {...form.getInputProps('user')}
              />
              <Select
                label="Feature"
                placeholder="Choose a feature"
                searchable
                data={choices.map(({ id, name }) => ({ value: id, label: name }))}
                {...form.getInputProps('feature')}
              />
              <NumberInput
                label="How many"
                description="For a consumable feature"
                min={0}
                allowDecimal={false}
                allowNegative={false}
                {...form.getInputProps('delta')}
              />
              <TextInput
                label="Entities"
                description="Whose caps apply, as type:id, separated by spaces"
                placeholder="team:7 agent:42"
                {...form.getInputProps('entities')}
              />
              <Button type="submit" loading={explanation.isFetching && asked}>
                Check access
              </Button>
            </Stack>
          </form>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 8 }}>
          {asked ? (
            <Loaded of={explanation} skeleton={<SkeletonCards cards={2} cols={1} height={200} />}>
              {({ explain }) =>
                explain && (
                  <Answer
                    appId={appId}
                    explanation={explain}
                    features={choices}
                    feature={feature}
                    record={
                      chosen &&
                      explain.consumption && (
                        <Button
                          variant="default"
                          disabled={!may('recordUsage')}
                          onClick={() => setRecording(true)}
                        >
                          Record usage
                        </Button>
                      )
                    }
                  />
                )
              }
            </Loaded>
          ) : (
            <Text c="dimmed">Choose a user and a feature to check access.</Text>
          )}
        </Grid.Col>
      </Grid>
      <FormDialog
        opened={recording}
        onClose={() => setRecording(false)}
        title={`Record usage of ${chosen?.name ?? ''}`}
      >
        {chosen && (
          <RecordUsageForm
            appId={appId}
            userId={user}
            feature={{ ...chosen, featureId: chosen.id }}
            amount={amount}
            entities={entitiesIn(entities)}
            onDone={() => setRecording(false)}
          />
        )}
      </FormDialog>
      {asked && (
        <Code
          appId={appId}
          userId={user}
          featureId={feature}
          delta={amount}
          entities={entitiesIn(entities)}
        />
      )}
    </Page>
  )
}

/** At most 4 may be named; the service says so. */
const entitiesIn = (text: string): string[] => text.split(/[\s,]+/).filter((entity) => entity !== '')

type Consumption = NonNullable<Explanation['consumption']>

/** What is left in all sources. */
function leftText({ remaining, reserved }: Consumption, labels: Choices[number] | undefined): string {
  const amount = (value: number) => units(value, labels?.unitLabel, labels?.unitLabelPlural)
  const left = remaining === null ? 'Unlimited' : `${amount(remaining)} left`
  return reserved > 0 ? `${left}, ${number(reserved)} reserved` : left
}

interface AnswerProps {
  appId: string
  explanation: Explanation
  features: Choices
  feature: string
  /** records what was asked about; absent: nothing is counted */
  record: ReactNode
}

function Answer({ appId, explanation, features, feature, record }: AnswerProps) {
  const { access, reason, reasonCode, deniedBy, consumption, steps, periodStart, periodEnd, subscriptions } =
    explanation
  const granted = features.find(({ id }) => id === feature)
  return (
    <Stack gap="lg">
      <Note tone={access ? 'good' : 'bad'} title={access ? 'Access granted' : 'Access denied'} role="status">
        {withNumbers(reason)}{' '}
        <Tag tone={access ? 'good' : 'bad'} title={reasonCode}>
          {reasonCode.toLowerCase().replaceAll('_', ' ')}
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
            { label: 'Grants', cell: ({ grant }) => (grant ? grantText(grant, granted) : 'not granted') },
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

function Code({
  appId,
  userId,
  featureId,
  delta,
  entities,
}: {
  appId: string
  userId: string
  featureId: string
  delta: number
  entities: readonly string[]
}) {
  const named = entities.length > 0
  const call = adminCall(
    `query ($userId: String!, $featureId: String!, $delta: Int${named ? ', $entities: [String!]' : ''}) { canUseFeature(userId: $userId, featureId: $featureId, delta: $delta${named ? ', entities: $entities' : ''}) { access reason consumption { used budget } } }`,
    { userId, featureId, delta, ...(named && { entities }) },
  )
  const args = `userId: ${quoted(userId)}, featureId: ${quoted(featureId)}${delta === 1 ? '' : `, delta: ${delta}`}${named ? `, entities: [${entities.map(quoted).join(', ')}]` : ''}`
  return (
    <Stack gap="xs">
      <Title order={2}>The same in code</Title>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="sm" aria-label="Language">
          <Tabs.Tab value="curl">curl</Tabs.Tab>
          <Tabs.Tab value="sdk">Node SDK</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="curl">
          <CodeBlock label="The check with curl" text={curl(call, appId)} />
        </Tabs.Panel>
        <Tabs.Panel value="sdk">
          <CodeBlock label="The check with the SDK" text={sdk(`canUseFeature({ ${args} })`, appId)} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}
