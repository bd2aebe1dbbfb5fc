import { Button, Grid, NumberInput, Select, Stack, Tabs, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAppId, useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { required } from '../forms/onto-fields.ts'
import { RecordUsageForm } from '../forms/record-usage-form.tsx'
import { adminCall, curl, quoted, sdk } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { UserInput } from '../ui/user-input.tsx'
import { EXPLAIN, PlaygroundAnswer } from './playground-answer.tsx'

const CHOICES = graphql(`
  query PlaygroundChoices($appId: String!) {
    features(appId: $appId) { id name type unitLabel unitLabelPlural }
  }
`)
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
                  <PlaygroundAnswer
                    appId={appId}
                    explanation={explain}
                    feature={choices.find(({ id }) => id === feature)}
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
