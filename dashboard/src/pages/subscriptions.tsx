import { Select } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useAppId } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Page } from '../ui/page.tsx'
import { SubscriptionList } from './subscription-list.tsx'

const NAMES = graphql(`
  query PackageNames($appId: String!) {
    packages(appId: $appId) { id name }
  }
`)

export function SubscriptionsPage() {
  const appId = useAppId()
  const { package: packageId } = useSearch({ from: '/inside/apps/$app/subscriptions' })
  const navigate = useNavigate({ from: '/apps/$app/subscriptions' })
  const asked = useAsk(NAMES, { appId })
  const packages = asked.data?.packages ?? []
  return (
    <Page title="Subscriptions" about="Who has which package, newest first.">
      <FormAlert error={asked.error} />
      <Select
        label="Package"
        placeholder="All packages"
        w={260}
        clearable
        data={packages.map(({ id, name }) => ({ value: id, label: name }))}
        value={packageId ?? null}
        onChange={(id) => void navigate({ search: id === null ? {} : { package: id } })}
      />
      <SubscriptionList appId={appId} {...(packageId !== undefined && { packageId })} />
    </Page>
  )
}
