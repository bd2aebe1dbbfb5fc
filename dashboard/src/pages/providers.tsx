import { Button, Group, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { AccessAfterRefundForm } from '../forms/access-after-refund-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { GraceDaysForm } from '../forms/grace-days-form.tsx'
import { ProviderForm } from '../forms/provider-form.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { units } from '../ui/number.ts'
import { providerName } from '../ui/price.ts'
import { SkeletonCards, SkeletonLines } from '../ui/skeletons.tsx'
import { Tag } from '../ui/tag.tsx'

const PROVIDERS = graphql(`
  query Providers($appId: String!) {
    providerAccounts(appId: $appId) {
      provider enabled source keyHint livemode webhookSecrets webhookUrl
    }
    billingSettings(appId: $appId) { graceDays accessAfterRefund }
  }
`)
const TEST = graphql(`
  mutation TestProviderAccount($appId: String!, $provider: String!) {
    testProviderAccount(appId: $appId, provider: $provider) { ok message }
  }
`)
const SWITCH = graphql(`
  mutation SwitchProvider($appId: String!, $provider: String!, $enabled: Boolean!) {
    setProviderAccount(appId: $appId, provider: $provider, input: { enabled: $enabled }) { provider }
  }
`)
const REMOVE = graphql(`
  mutation RemoveProviderAccount($appId: String!, $provider: String!) {
    removeProviderAccount(appId: $appId, provider: $provider) { provider }
  }
`)
const USE = graphql(`
  query ProviderUse($appId: String!, $provider: String!) {
    providerUse(appId: $appId, provider: $provider) { paid openLinks }
  }
`)
type Account = ResultOf<typeof PROVIDERS>['providerAccounts'][number]

const ABOUT: Record<string, string> = {
  sandbox:
    'Built in, for development and testing: a real payment page with test cards, where no money moves.',
  stripe: 'Real payments through your Stripe account.',
}
const SOURCES: Record<Account['source'], string> = {
  NONE: 'Not set up.',
  BUILT_IN: '',
  DASHBOARD: 'Set up here.',
  ENVIRONMENT: 'Set by STRIPE_SECRET_KEY in the environment.',
}

export function Providers({ appId }: { appId: string }) {
  const [setting, setSetting] = useState<Account | null>(null)
  const asked = useAsk(PROVIDERS, { appId })
  return (
    <Loaded of={asked} skeleton={<SkeletonCards cards={2} cols={{ base: 1, md: 2 }} height={150} />}>
      {({ providerAccounts, billingSettings }) => (
        <Stack gap="xl">
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            {providerAccounts.map((account) => (
              <ProviderCard
                key={account.provider}
                appId={appId}
                account={account}
                live={providerAccounts.some(({ livemode }) => livemode === true)}
                onSet={() => setSetting(account)}
              />
            ))}
          </SimpleGrid>
          <GraceDaysForm appId={appId} days={billingSettings.graceDays} />
          <AccessAfterRefundForm
            key={billingSettings.accessAfterRefund}
            appId={appId}
            access={billingSettings.accessAfterRefund}
          />
          <FormDialog
            opened={setting !== null}
            onClose={() => setSetting(null)}
            title={`Keys for ${setting?.provider}`}
          >
            {setting && <ProviderForm appId={appId} account={setting} onDone={() => setSetting(null)} />}
          </FormDialog>
        </Stack>
      )}
    </Loaded>
  )
}

interface ProviderCardProps {
  appId: string
  account: Account
  /** a provider of the app takes real money */
  live: boolean
  onSet: () => void
}

function ProviderCard({ appId, account, live, onSet }: ProviderCardProps) {
  const may = useMay()
  const test = useChange(TEST)
  const turn = useChange(SWITCH)
  const [removing, setRemoving] = useState(false)
  const remove = useChange(REMOVE, {
    said: `${providerName(account.provider)} removed.`,
    done: () => setRemoving(false),
  })
  const tested = test.data?.testProviderAccount
  const { provider, enabled, source, keyHint, livemode } = account
  return (
    <Paper p="md" radius="md">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2}>{providerName(provider)}</Title>
          <Group gap="xs">
            {livemode !== null && (
              <Tag tone={livemode ? 'bad' : 'warn'}>{livemode ? 'Live mode' : 'Test mode'}</Tag>
            )}
            {enabled ? <Tag tone="good">On</Tag> : <Tag>Off</Tag>}
          </Group>
        </Group>
        <Text size="sm" c="dimmed">
          {[ABOUT[provider], SOURCES[source], keyHint !== null && `Key ends in ${keyHint}.`]
            .filter(Boolean)
            .join(' ')}
        </Text>
        {provider === 'sandbox' && live && !enabled && (
          <Note tone="warn" role="status">
            Off because this app takes real payments: a sandbox link would give access without a payment.
            Sandbox purchases last until the end of their paid period.
          </Note>
        )}
        <FormAlert error={test.error ?? turn.error ?? remove.error} />
        {tested && (
          <Note tone={tested.ok ? 'good' : 'bad'} role="status">
            {tested.message}
          </Note>
        )}
        <Group gap="xs">
          {provider === 'sandbox' ? (
            <Button
              variant="default"
              size="xs"
              loading={turn.isPending}
              disabled={!may('setProviderAccount')}
              onClick={() => turn.mutate({ appId, provider, enabled: !enabled })}
            >
              Turn {enabled ? 'off' : 'on'}
            </Button>
          ) : (
            <Button variant="default" size="xs" disabled={!may('setProviderAccount')} onClick={onSet}>
              {source === 'NONE' ? 'Set up' : 'Change keys'}
            </Button>
          )}
          {enabled && (
            <Button
              variant="default"
              size="xs"
              loading={test.isPending}
              disabled={!may('testProviderAccount')}
              onClick={() => test.mutate({ appId, provider })}
            >
              Test
            </Button>
          )}
          {source === 'DASHBOARD' && (
            <Button
              variant="default"
              size="xs"
              disabled={!may('removeProviderAccount')}
              onClick={() => setRemoving(true)}
            >
              Remove
            </Button>
          )}
          <Confirm
            opened={removing}
            title={`Remove ${providerName(provider)}?`}
            submit="Remove"
            busy={remove.isPending}
            error={remove.error}
            onConfirm={() => remove.mutate({ appId, provider })}
            onClose={() => setRemoving(false)}
          >
            <RemovalEffects appId={appId} provider={provider} />
          </Confirm>
        </Group>
      </Stack>
    </Paper>
  )
}

/** What goes on at the provider without us, in numbers. */
function RemovalEffects({ appId, provider }: { appId: string; provider: string }) {
  const asked = useAsk(USE, { appId, provider })
  return (
    <Loaded of={asked} skeleton={<SkeletonLines />}>
      {({ providerUse }) => (
        <List size="sm" spacing="xs">
          <List.Item>Tollgate deletes its keys and creates no more payment links with it.</List.Item>
          <List.Item>
            {providerUse?.paid
              ? `${units(providerUse.paid, 'subscription continues', 'subscriptions continue')} to be charged at ${providerName(provider)}. Until you enter the keys again, Tollgate does not receive their renewals, failed payments or cancellations.`
              : `No subscription is charged through ${providerName(provider)}.`}
          </List.Item>
          {providerUse !== null && providerUse.openLinks > 0 && (
            <List.Item>
              {units(providerUse.openLinks, 'open payment link', 'open payment links')} can still be paid, but
              purchases take effect only then.
            </List.Item>
          )}
        </List>
      )}
    </Loaded>
  )
}
