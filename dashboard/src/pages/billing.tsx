import { Tabs } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAppId } from '../api/use-account.ts'
import { Loading } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { BillingTemplates } from './billing-templates.tsx'
import { SandboxWarning } from './sandbox-warning.tsx'

const Notices = lazy(async () => ({ default: (await import('./notices.tsx')).Notices }))
const Providers = lazy(async () => ({ default: (await import('./providers.tsx')).Providers }))

export function BillingPage() {
  const appId = useAppId()
  const { tab = 'templates' } = useSearch({ from: '/inside/apps/$app/billing' })
  const navigate = useNavigate({ from: '/apps/$app/billing' })
  return (
    <Page title="Billing" about="Templates for payment links, payment providers, and the webhooks they send.">
      <SandboxWarning appId={appId} />
      <Tabs
        value={tab}
        onChange={(value) => void navigate({ search: { tab: value as typeof tab } })}
        keepMounted={false}
      >
        <Tabs.List mb="md" aria-label="Parts of billing">
          <Tabs.Tab value="templates">Templates</Tabs.Tab>
          <Tabs.Tab value="providers">Providers</Tabs.Tab>
          <Tabs.Tab value="notices">Webhook events</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="templates">
          <BillingTemplates appId={appId} />
        </Tabs.Panel>
        <Tabs.Panel value="providers">
          <Suspense fallback={<Loading />}>
            <Providers appId={appId} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="notices">
          <Suspense fallback={<Loading />}>
            <Notices appId={appId} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
