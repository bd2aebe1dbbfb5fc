import { Button, Group, Paper, SegmentedControl, Stack, Text, Title, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconSparkles } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { type AdminCall, adminCall, curl, quoted, sdk } from '../snippets.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { ButtonLink } from '../ui/links.tsx'
import classes from './first-minute.module.css'
import { KeyForLines } from './key-for-lines.tsx'

const CHECKLIST = graphql(`
  query Checklist($appId: String!) {
    checklist(appId: $appId) { feature package published user subscription check }
    features(appId: $appId) { id }
    packages(appId: $appId) { id status isAddon }
    users(appId: $appId, first: 1) { rows { id } }
  }
`)
const LOAD_SAMPLE = graphql(`
  mutation LoadSample($appId: String!) {
    loadSample(appId: $appId) { features packages users }
  }
`)

/** The steps from nothing to the first answer. They complete by themselves, and disappear when all are done. */
export function FirstMinute({ appId }: { appId: string }) {
  const may = useMay()
  const [key, setKey] = useState<string | undefined>()
  const [language, setLanguage] = useState('curl')
  const asked = useAsk(CHECKLIST, { appId }, { refetchInterval: 4_000 })
  const load = useChange(LOAD_SAMPLE, { said: 'Sample loaded.' })
  const list = asked.data?.checklist
  if (!asked.data || !list) return null
  const featureId = asked.data.features[0]?.id ?? 'api-calls'
  const packages = asked.data.packages.filter(({ isAddon }) => !isAddon)
  const packageId = (packages.find(({ status }) => status === 'PUBLISHED') ?? packages[0])?.id ?? 'pro'
  const userId = asked.data.users?.rows[0]?.id ?? 'ada'
  const steps = stepsOf({ appId, featureId, packageId, userId })
  const next = steps.findIndex(({ is }) => !list[is])
  if (next === -1) return null
  const nothing = !list.feature && !list.package && !list.user
  return (
    <Paper radius="md" component="section" aria-labelledby="first-minute">
      <Group justify="space-between" p="md" gap="sm">
        <div>
          <Title order={2} id="first-minute">
            Your first minute
          </Title>
          <Text size="sm" c="dimmed">
            {steps.filter(({ is }) => list[is]).length} of {steps.length} done. Steps are checked off
            automatically, whether you do them here or in code.
          </Text>
        </div>
        {nothing && (
          <Button
            variant="default"
            leftSection={<IconSparkles size={16} aria-hidden />}
            loading={load.isPending}
            disabled={!may('loadSample')}
            onClick={() => load.mutate({ appId })}
          >
            Load a sample catalogue
          </Button>
        )}
      </Group>
      <FormAlert error={load.error} />
      <ol className={classes.steps}>
        {steps.map(({ is, title, about, action, call, code }, row) => {
          const state = list[is] ? classes.done : row === next ? classes.next : ''
          return (
            <li
              key={is}
              className={`${classes.step} ${state}`}
              aria-current={row === next ? 'step' : undefined}
            >
              <span className={classes.circle} aria-hidden>
                {list[is] ? <IconCheck size={14} stroke={3} /> : row + 1}
              </span>
              <div className={classes.body}>
                <Text fw={row === next ? 650 : 500} size="sm">
                  {title}
                  {list[is] && <VisuallyHidden> (done)</VisuallyHidden>}
                </Text>
                {row === next && (
                  <Stack gap="sm" mt="xxs" align="stretch">
                    <Text size="sm" c="dimmed">
                      {about}
                    </Text>
                    <Group>{action}</Group>
                    {call && (
                      <Lines
                        language={language}
                        onLanguage={setLanguage}
                        text={language === 'curl' ? curl(call, appId, key) : sdk(code, appId, key)}
                      />
                    )}
                    {call && key === undefined && <KeyForLines appId={appId} onKey={setKey} />}
                  </Stack>
                )}
              </div>
            </li>
          )
        })}
      </ol>
    </Paper>
  )
}

interface LinesProps {
  language: string
  onLanguage: (language: string) => void
  text: string
}

function Lines({ language, onLanguage, text }: LinesProps) {
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label="Language"
        value={language}
        onChange={onLanguage}
        data={[
          { value: 'curl', label: 'curl' },
          { value: 'sdk', label: 'Node SDK' },
        ]}
      />
      <CodeBlock label={language === 'curl' ? 'The same with curl' : 'The same with the SDK'} text={text} />
    </Stack>
  )
}

interface Step {
  is: 'feature' | 'package' | 'published' | 'user' | 'subscription' | 'check'
  title: string
  about: string
  action: ReactNode
  call: AdminCall | null
  code: string
}

/** The steps, with existing ids filled into their commands. */
function stepsOf(ids: { appId: string; featureId: string; packageId: string; userId: string }): Step[] {
  const { appId, featureId, packageId, userId } = ids
  const params = { app: appId }
  return [
    {
      is: 'feature',
      title: 'Create a feature',
      about: 'Something a user can use: API calls, seats, single sign-on.',
      action: (
        <ButtonLink to="/apps/$app/features" params={params} search={{ make: '1' }}>
          Create a feature
        </ButtonLink>
      ),
      call: adminCall('mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id } }', {
        input: {
          id: 'api-calls',
          name: 'API calls',
          type: 'CONSUMABLE',
          unitLabel: 'call',
          unitLabelPlural: 'calls',
        },
      }),
      code: "createFeature({ id: 'api-calls', name: 'API calls', type: 'CONSUMABLE', unitLabel: 'call', unitLabelPlural: 'calls' })",
    },
    {
      is: 'package',
      title: 'Create a package',
      about: 'A plan, with its features and limits.',
      action: (
        <ButtonLink to="/apps/$app/packages" params={params} search={{ make: '1' }}>
          Create a package
        </ButtonLink>
      ),
      call: adminCall('mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }', {
        input: { id: 'pro', name: 'Pro', features: [{ id: featureId, entitlement: { limit: 1000 } }] },
      }),
      code: `createPackage({ id: 'pro', name: 'Pro', features: [{ id: ${quoted(featureId)}, entitlement: { limit: 1000 } }] })`,
    },
    {
      is: 'published',
      title: 'Publish it',
      about: 'Users can subscribe only to a published package. Publishing is done here, not through the API.',
      action: (
        <ButtonLink to="/apps/$app/packages/$id/publish" params={{ ...params, id: packageId }}>
          Review and publish {packageId}
        </ButtonLink>
      ),
      call: null,
      code: '',
    },
    {
      is: 'user',
      title: 'Create a user',
      about: 'With their id in your application.',
      action: (
        <ButtonLink to="/apps/$app/users" params={params} search={{ make: '1' }}>
          Create a user
        </ButtonLink>
      ),
      call: adminCall('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', {
        input: { id: 'ada', name: 'Ada', email: 'ada@example.com' },
      }),
      code: "createUser({ id: 'ada', name: 'Ada', email: 'ada@example.com' })",
    },
    {
      is: 'subscription',
      title: 'Subscribe them',
      about: 'It applies immediately.',
      action: (
        <ButtonLink to="/apps/$app/users/$id" params={{ ...params, id: userId }}>
          Open {userId}
        </ButtonLink>
      ),
      call: adminCall(
        'mutation ($userId: String!, $packageIds: [String!]!) { subscribe(userId: $userId, packageIds: $packageIds) { id status } }',
        { userId, packageIds: [packageId] },
      ),
      code: `subscribe({ userId: ${quoted(userId)}, packageIds: [${quoted(packageId)}] })`,
    },
    {
      is: 'check',
      title: 'Run your first check',
      about: 'Can this user use this feature? Ask from your code, with an API key.',
      action: (
        <ButtonLink
          variant="default"
          to="/apps/$app/playground"
          params={params}
          search={{ user: userId, feature: featureId }}
        >
          Try it in the playground
        </ButtonLink>
      ),
      call: adminCall(
        'query ($userId: String!, $featureId: String!) { canUseFeature(userId: $userId, featureId: $featureId) { access reason } }',
        { userId, featureId },
      ),
      code: `canUseFeature({ userId: ${quoted(userId)}, featureId: ${quoted(featureId)} })`,
    },
  ]
}
