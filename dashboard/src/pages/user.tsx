import { Button, Divider, Group, Loader, Tabs, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { DeleteUser } from '../forms/delete-user.tsx'
import { ExportUser } from '../forms/export-user.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { UserForm } from '../forms/user-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { AnchorLink, ButtonLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { SubjectLine } from '../ui/subject-line.tsx'
import { SubscriptionList } from './subscription-list.tsx'
import { UserLedger } from './user-ledger.tsx'
import { UserOverrides } from './user-overrides.tsx'
import { UserStanding } from './user-standing.tsx'
import { UserUsage } from './user-usage.tsx'

// Loaded when they are opened: the page itself is to come quickly.
const ChangePlanForm = lazy(async () => ({
  default: (await import('../forms/change-plan-form.tsx')).ChangePlanForm,
}))
const SubscribeForm = lazy(async () => ({
  default: (await import('../forms/subscribe-form.tsx')).SubscribeForm,
}))
const UserToken = lazy(async () => ({ default: (await import('../forms/user-token.tsx')).UserToken }))
const TrialForm = lazy(async () => ({ default: (await import('../forms/trial-form.tsx')).TrialForm }))

const USER = graphql(`
  query User($appId: String!, $id: String!) {
    user(appId: $appId, id: $id) { id name email billingId metadata createdAt }
  }
`)

export function UserPage() {
  const { app, id } = useParams({ from: '/inside/apps/$app/users/$id' })
  const { tab = 'usage' } = useSearch({ from: '/inside/apps/$app/users/$id' })
  const navigate = useNavigate({ from: '/apps/$app/users/$id' })
  const may = useMay()
  const asked = useAsk(USER, { appId: app, id })
  const user = asked.data?.user
  const [subscribing, subscribe] = useDisclosure()
  const [token, tokens] = useDisclosure()
  const [changing, changes] = useDisclosure()
  const [trying, trials] = useDisclosure()
  return (
    <Page
      title={user?.name ?? id}
      about={
        <SubjectLine
          list={
            <AnchorLink to="/apps/$app/users" params={{ app }} size="sm">
              Users
            </AnchorLink>
          }
          id={id}
        >
          {user?.email && (
            <Text size="sm" className="break">
              {user.email}
            </Text>
          )}
          <AnchorLink to="/apps/$app/audit" params={{ app }} search={{ subject: id }} size="sm">
            Audit log
          </AnchorLink>
        </SubjectLine>
      }
      actions={
        <Group gap="xs">
          <ButtonLink variant="default" to="/apps/$app/playground" params={{ app }} search={{ user: id }}>
            Try a check
          </ButtonLink>
          <Button variant="default" onClick={tokens.open} disabled={!may('generateUserToken')}>
            Create a token
          </Button>
          <Button variant="default" onClick={trials.open} disabled={!may('startTrial')}>
            Start a trial
          </Button>
          <Button variant="default" onClick={changes.open} disabled={!may('changeSubscription')}>
            Change plan
          </Button>
          <Button onClick={subscribe.open} disabled={!may('subscribe')}>
            Subscribe
          </Button>
        </Group>
      }
    >
      <Loaded
        of={asked}
        whole
        skeleton={<SkeletonCards cards={6} cols={{ base: 1, sm: 2, lg: 3 }} height={156} />}
      >
        {({ user }) =>
          user && (
            <>
              <UserStanding appId={app} userId={id} />
              <Tabs
                value={tab}
                onChange={(value) => void navigate({ search: { tab: value as typeof tab }, replace: true })}
                keepMounted={false}
              >
                <Tabs.List mb="md" aria-label="About the user">
                  <Tabs.Tab value="usage">Usage</Tabs.Tab>
                  <Tabs.Tab value="subscriptions">Subscriptions</Tabs.Tab>
                  <Tabs.Tab value="overrides">Overrides</Tabs.Tab>
                  <Tabs.Tab value="ledger">Ledger</Tabs.Tab>
                  <Tabs.Tab value="details">Details</Tabs.Tab>
                </Tabs.List>
                <Tabs.Panel value="usage">
                  <UserUsage appId={app} userId={id} onSubscribe={subscribe.open} />
                </Tabs.Panel>
                <Tabs.Panel value="subscriptions">
                  <SubscriptionList appId={app} userId={id} />
                </Tabs.Panel>
                <Tabs.Panel value="overrides">
                  <UserOverrides appId={app} userId={id} />
                </Tabs.Panel>
                <Tabs.Panel value="ledger">
                  <UserLedger appId={app} userId={id} />
                </Tabs.Panel>
                <Tabs.Panel value="details">
                  <UserForm
                    appId={app}
                    user={user}
                    onRenamed={(id) => void navigate({ params: { app, id }, search: { tab: 'details' } })}
                  />
                  <Divider my="xl" maw={560} />
                  <Group gap="xs" align="flex-start">
                    <ExportUser appId={app} id={id} />
                    <DeleteUser
                      appId={app}
                      id={id}
                      onDeleted={() => navigate({ to: '/apps/$app/users', params: { app } })}
                    />
                  </Group>
                </Tabs.Panel>
              </Tabs>
            </>
          )
        }
      </Loaded>
      <FormDialog opened={subscribing} onClose={subscribe.close} title={`Subscribe ${user?.name ?? id}`}>
        <Suspense fallback={<Loader />}>
          <SubscribeForm appId={app} userId={id} onDone={subscribe.close} />
        </Suspense>
      </FormDialog>
      <FormDialog opened={changing} onClose={changes.close} title={`Change the plan of ${user?.name ?? id}`}>
        <Suspense fallback={<Loader />}>
          <ChangePlanForm appId={app} userId={id} onDone={changes.close} />
        </Suspense>
      </FormDialog>
      <FormDialog opened={trying} onClose={trials.close} title={`Start a trial for ${user?.name ?? id}`}>
        <Suspense fallback={<Loader />}>
          <TrialForm appId={app} userId={id} onDone={trials.close} />
        </Suspense>
      </FormDialog>
      <Dialog opened={token} onClose={tokens.close} size="lg" title="Token for the client SDK">
        <Suspense fallback={<Loader />}>
          <UserToken appId={app} userId={id} />
        </Suspense>
      </Dialog>
    </Page>
  )
}
