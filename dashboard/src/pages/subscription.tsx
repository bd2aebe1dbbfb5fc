import { Anchor, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { SubscriptionActions } from '../forms/subscription-actions.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded, Loading } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { PackageLink } from '../ui/package-link.tsx'
import { Page } from '../ui/page.tsx'
import { PaymentTable } from '../ui/payment-table.tsx'
import { priceText, providerName } from '../ui/price.ts'
import { useProviderLink } from '../ui/provider-link.ts'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { StatusTag } from '../ui/status-tag.tsx'
import { SubjectLine } from '../ui/subject-line.tsx'
import { Tag } from '../ui/tag.tsx'
import { Timeline } from '../ui/timeline.tsx'
import { When } from '../ui/when.tsx'
import { NextText } from './next-text.tsx'

const ChangePlanForm = lazy(async () => ({
  default: (await import('../forms/change-plan-form.tsx')).ChangePlanForm,
}))

const SUBSCRIPTION = graphql(`
  query Subscription($appId: String!, $id: String!) {
    subscription(appId: $appId, id: $id) {
      id userId userName status replaced startedAt cancelAt cancelledAt trialEndsAt quantity packageVersion
      scheduled { packageId packageName at }
      package { id name isAddon publishedVersion }
      billing { provider ref status paidUntil }
      price { amount decimals currency interval }
      nextEvent { kind at packageName }
    }
    subscriptionHistory(appId: $appId, id: $id) {
      at kind parts { text at subject { kind appId id } } by { text at subject { kind appId id } }
    }
    subscriptionPayments(appId: $appId, id: $id) {
      ref provider state amount refunded currency decimals at refundedAt disputeState subscriptionId packageNames
      credit { id featureName units }
    }
  }
`)
type Subscription = NonNullable<ResultOf<typeof SUBSCRIPTION>['subscription']>

/** One subscription: its terms, its history and its payments. */
export function SubscriptionPage() {
  const { app, id } = useParams({ from: '/inside/apps/$app/subscriptions/$id' })
  const asked = useAsk(SUBSCRIPTION, { appId: app, id })
  const found = asked.data?.subscription
  const [changing, setChanging] = useState(false)
  const user = found?.userName ?? found?.userId ?? ''
  const close = () => setChanging(false)
  return (
    <Page
      title={found ? `${found.package.name} of ${user}` : 'Subscription'}
      heading={
        found && (
          <Group gap="sm">
            {found.package.name}
            {found.package.isAddon && <Tag tone="accent">Add-on</Tag>}
            <StatusTag of={found} />
          </Group>
        )
      }
      about={
        <SubjectLine
          list={
            <AnchorLink to="/apps/$app/subscriptions" params={{ app }} size="sm">
              Subscriptions
            </AnchorLink>
          }
          id={id}
        >
          {found && (
            <AnchorLink to="/apps/$app/users/$id" params={{ app, id: found.userId }} size="sm">
              {user}
            </AnchorLink>
          )}
        </SubjectLine>
      }
      actions={
        found && (
          <SubscriptionActions
            appId={app}
            subscription={found}
            onPage
            onChangePlan={() => setChanging(true)}
          />
        )
      }
    >
      <Loaded
        of={asked}
        whole
        skeleton={<SkeletonCards cards={6} cols={{ base: 1, xs: 2, md: 3 }} height={84} />}
      >
        {({ subscription, subscriptionHistory, subscriptionPayments }) =>
          subscription && (
            <>
              <Terms appId={app} subscription={subscription} />
              <Stack gap="xs">
                <Title order={2}>Payments</Title>
                {subscriptionPayments.length === 0 ? (
                  <Text c="dimmed" size="sm">
                    {subscription.billing ? 'No payments yet.' : 'Not billed: there are no payments.'}
                  </Text>
                ) : (
                  <PaymentTable appId={app} payments={subscriptionPayments} />
                )}
              </Stack>
              <Stack gap="xs">
                <Title order={2}>Timeline</Title>
                <Timeline lines={subscriptionHistory} />
              </Stack>
            </>
          )
        }
      </Loaded>
      <FormDialog opened={changing} onClose={close} title={`Change the plan of ${user}`} size="lg">
        <Suspense fallback={<Loading />}>
          {found && (
            <ChangePlanForm appId={app} userId={found.userId} userName={user} what="plan" onDone={close} />
          )}
        </Suspense>
      </FormDialog>
    </Page>
  )
}

function Terms({ appId, subscription }: { appId: string; subscription: Subscription }) {
  const { package: p, quantity, packageVersion, price, billing, startedAt } = subscription
  const link = useProviderLink(appId, billing)
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} component="section" aria-label="Terms">
      <Term label={p.isAddon ? 'Add-on' : 'Plan'}>
        <PackageLink appId={appId} id={p.id} name={p.name} />
        <Text size="xs" c="dimmed">
          {`Version ${packageVersion}${packageVersion === p.publishedVersion ? '' : ` of ${p.publishedVersion}`}`}
        </Text>
      </Term>
      <Term label="Price">
        {price ? priceText(price) : billing ? 'Unknown' : 'Not billed'}
        {price && quantity > 1 && ` × ${number(quantity)}`}
      </Term>
      <Term label="Quantity">{number(quantity)}</Term>
      <Term label="Started">
        <When at={startedAt} time />
      </Term>
      <Term label="Next">
        <NextText of={subscription} />
      </Term>
      <Term label="Provider">
        {billing ? providerName(billing.provider) : 'None'}
        {link && (
          <div>
            <Anchor href={link} target="_blank" rel="noreferrer" size="sm">
              Open in {providerName(billing?.provider ?? '')}
            </Anchor>
          </div>
        )}
        {billing?.paidUntil && (
          <Text size="xs" c="dimmed">
            Paid until <When at={billing.paidUntil} />
          </Text>
        )}
      </Term>
    </SimpleGrid>
  )
}

function Term({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Paper p="sm" radius="md">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </Paper>
  )
}
