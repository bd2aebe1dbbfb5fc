import { Button, Group, Loader, Skeleton, Tabs, Text } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { useSubscriptionActions } from '../forms/subscription-actions.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { AnchorLink, MenuItemLink } from '../ui/links.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { MoreMenu } from '../ui/more-menu.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { SubjectLine } from '../ui/subject-line.tsx'
import { UserStanding, useStanding } from './user-standing.tsx'
import { UserUsage } from './user-usage.tsx'

// Loaded when they are opened: the page itself is to come quickly.
const ChangePlanForm = lazy(async () => ({
  default: (await import('../forms/change-plan-form.tsx')).ChangePlanForm,
}))
const SubscribeForm = lazy(async () => ({
  default: (await import('../forms/subscribe-form.tsx')).SubscribeForm,
}))
const SendLinkForm = lazy(async () => ({
  default: (await import('../forms/send-link-form.tsx')).SendLinkForm,
}))
const UserToken = lazy(async () => ({ default: (await import('../forms/user-token.tsx')).UserToken }))
const TrialForm = lazy(async () => ({ default: (await import('../forms/trial-form.tsx')).TrialForm }))

const UserCredits = lazy(async () => ({ default: (await import('./user-credits.tsx')).UserCredits }))
const UserCaps = lazy(async () => ({ default: (await import('./user-caps.tsx')).UserCaps }))
const UserDetails = lazy(async () => ({ default: (await import('./user-details.tsx')).UserDetails }))
const UserEvents = lazy(async () => ({ default: (await import('./user-events.tsx')).UserEvents }))
const UserLedger = lazy(async () => ({ default: (await import('./user-ledger.tsx')).UserLedger }))
const UserOverrides = lazy(async () => ({ default: (await import('./user-overrides.tsx')).UserOverrides }))
const UserPayments = lazy(async () => ({ default: (await import('./user-payments.tsx')).UserPayments }))
const SubscriptionList = lazy(async () => ({
  default: (await import('./subscription-list.tsx')).SubscriptionList,
}))

/** On a phone, the row of tabs is wider than the page. */
const showChosenTab = (tabs: HTMLElement | null) =>
  tabs?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest', inline: 'center' })

const USER = graphql(`
  query User($appId: String!, $id: String!) {
    user(appId: $appId, id: $id) { id name email billingId metadata createdAt }
  }
`)

export function UserPage() {
  const { app, id } = useParams({ from: '/inside/apps/$app/users/$id' })
  const { tab = 'usage', open: toOpen } = useSearch({ from: '/inside/apps/$app/users/$id' })
  const navigate = useNavigate({ from: '/apps/$app/users/$id' })
  const may = useMay()
  const asked = useAsk(USER, { appId: app, id })
  const user = asked.data?.user
  const live = useStanding(app, id)
  const plan = live?.find((subscription) => !subscription.package.isAddon)
  const hasPlan = plan !== undefined
  const ofPlan = useSubscriptionActions(app, plan)
  const [open, setOpen] = useState<Opened | null>(null)
  // A link from a list opens one of the forms.
  useEffect(() => {
    if (toOpen === undefined) return
    setOpen(toOpen)
    void navigate({ search: ({ open, ...rest }) => rest, replace: true })
  }, [toOpen, navigate])
  const close = () => setOpen(null)
  const name = user?.name ?? user?.email ?? id
  const form = { appId: app, userId: id, onDone: close }
  return (
    <Page
      title={name}
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
        <Group gap="xs" wrap="nowrap">
          {live === undefined ? (
            <Skeleton height={36} width={118} />
          ) : hasPlan ? (
            <Button onClick={() => setOpen('change')} disabled={!may('changeSubscription')}>
              Change plan
            </Button>
          ) : (
            <Button onClick={() => setOpen('subscribe')} disabled={!may('subscribe')}>
              Subscribe
            </Button>
          )}
          <MoreMenu
            label={`More actions for ${name}`}
            actions={[
              hasPlan && {
                label: 'Change quantity or price',
                onClick: () => setOpen('terms'),
                disabled: !may('changeSubscription'),
              },
              hasPlan && {
                label: 'Subscribe to an add-on',
                onClick: () => setOpen('subscribe'),
                disabled: !may('subscribe'),
              },
              ...ofPlan.actions.filter(({ danger }) => !danger),
              { label: 'Start a trial', onClick: () => setOpen('trial'), disabled: !may('startTrial') },
              {
                label: 'Send payment link',
                onClick: () => setOpen('link'),
                disabled: !may('generateSubscriptionLink'),
              },
              {
                label: 'Create a token',
                onClick: () => setOpen('token'),
                disabled: !may('generateUserToken'),
              },
              ...ofPlan.actions.filter(({ danger }) => danger),
            ]}
          >
            <MenuItemLink to="/apps/$app/playground" params={{ app }} search={{ user: id }}>
              Try a check
            </MenuItemLink>
          </MoreMenu>
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
                <Tabs.List mb="md" aria-label="About the user" ref={showChosenTab}>
                  <Tabs.Tab value="usage">Usage</Tabs.Tab>
                  <Tabs.Tab value="credits">Credits</Tabs.Tab>
                  <Tabs.Tab value="caps">Caps</Tabs.Tab>
                  <Tabs.Tab value="subscriptions">Subscriptions</Tabs.Tab>
                  <Tabs.Tab value="payments">Payments</Tabs.Tab>
                  <Tabs.Tab value="overrides">Overrides</Tabs.Tab>
                  <Tabs.Tab value="ledger">Ledger</Tabs.Tab>
                  <Tabs.Tab value="events">Events</Tabs.Tab>
                  <Tabs.Tab value="details">Details</Tabs.Tab>
                </Tabs.List>
                <Suspense fallback={<Loading />}>
                  <Tabs.Panel value="usage">
                    <UserUsage appId={app} userId={id} onSubscribe={() => setOpen('subscribe')} />
                  </Tabs.Panel>
                  <Tabs.Panel value="credits">
                    <UserCredits appId={app} userId={id} onSendLink={() => setOpen('credits')} />
                  </Tabs.Panel>
                  <Tabs.Panel value="caps">
                    <UserCaps appId={app} userId={id} />
                  </Tabs.Panel>
                  <Tabs.Panel value="subscriptions">
                    <SubscriptionList appId={app} userId={id} />
                  </Tabs.Panel>
                  <Tabs.Panel value="payments">
                    <UserPayments appId={app} userId={id} onSendLink={() => setOpen('link')} />
                  </Tabs.Panel>
                  <Tabs.Panel value="overrides">
                    <UserOverrides appId={app} userId={id} />
                  </Tabs.Panel>
                  <Tabs.Panel value="ledger">
                    <UserLedger appId={app} userId={id} />
                  </Tabs.Panel>
                  <Tabs.Panel value="events">
                    <UserEvents appId={app} userId={id} />
                  </Tabs.Panel>
                  <Tabs.Panel value="details">
                    <UserDetails appId={app} user={user} />
                  </Tabs.Panel>
                </Suspense>
              </Tabs>
            </>
          )
        }
      </Loaded>
      {ofPlan.dialogs}
      <FormDialog
        opened={open !== null && open !== 'token'}
        onClose={close}
        title={open === null ? '' : titleOf(open, name, hasPlan)}
        size={open === 'change' || open === 'terms' || open === 'link' ? 'lg' : 'md'}
      >
        <Suspense
          fallback={
            <Loading>
              <Loader />
            </Loading>
          }
        >
          {open === 'subscribe' && <SubscribeForm {...form} userName={name} hasPlan={hasPlan} />}
          {(open === 'change' || open === 'terms') && (
            <ChangePlanForm {...form} userName={name} what={open === 'terms' ? 'terms' : 'plan'} />
          )}
          {open === 'trial' && <TrialForm {...form} userName={name} />}
          {open === 'link' && <SendLinkForm appId={app} userId={id} />}
          {open === 'credits' && <SendLinkForm appId={app} userId={id} credits />}
        </Suspense>
      </FormDialog>
      <Dialog opened={open === 'token'} onClose={close} size="lg" title="Token for the client SDK">
        <Suspense
          fallback={
            <Loading>
              <Loader />
            </Loading>
          }
        >
          <UserToken appId={app} userId={id} />
        </Suspense>
      </Dialog>
    </Page>
  )
}

type Opened = 'subscribe' | 'change' | 'terms' | 'trial' | 'link' | 'credits' | 'token'

function titleOf(opened: Opened, name: string, hasPlan: boolean): string {
  switch (opened) {
    case 'subscribe':
      return hasPlan ? `Subscribe ${name} to an add-on` : `Subscribe ${name}`
    case 'change':
      return `Change the plan of ${name}`
    case 'terms':
      return `Change quantity or price of ${name}`
    case 'trial':
      return `Start a trial for ${name}`
    case 'link':
      return `Send ${name} a payment link`
    case 'credits':
      return `Sell credits to ${name}`
    case 'token':
      return 'Token for the client SDK'
  }
}
