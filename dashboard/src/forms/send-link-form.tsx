import { Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { SandboxWarning } from '../pages/sandbox-warning.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { priceText } from '../ui/price.ts'
import { SkeletonLines } from '../ui/skeletons.tsx'
import { LinkTester } from './link-tester.tsx'

const TEMPLATES = graphql(`
  query SendableTemplates($appId: String!) {
    billingTemplates(appId: $appId) {
      id name problem trialDays prices { amount decimals currency interval }
    }
  }
`)

/** Creates a payment link for a user, to send to them. */
export function SendLinkForm({ appId, userId }: { appId: string; userId: string }) {
  const asked = useAsk(TEMPLATES, { appId })
  const [chosen, setChosen] = useState<string | null>(null)
  return (
    <Loaded of={asked} skeleton={<SkeletonLines />}>
      {({ billingTemplates }) => {
        const usable = billingTemplates.filter(({ problem }) => problem === null)
        const template = usable.find(({ id }) => id === chosen) ?? usable[0]
        if (!template) {
          return (
            <Text size="sm">
              A payment link needs a billing template. Create one on the{' '}
              <AnchorLink to="/apps/$app/billing" params={{ app: appId }} underline="always" size="sm">
                Billing page
              </AnchorLink>
              .
            </Text>
          )
        }
        return (
          <Stack>
            <SandboxWarning appId={appId} />
            <Select
              label="What to sell"
              data={usable.map(({ id, name, prices, trialDays }) => ({
                value: id,
                label: `${name} · ${prices.map(priceText).join(' + ')}${trialDays ? `, ${trialDays}-day trial` : ''}`,
              }))}
              value={template.id}
              onChange={setChosen}
              allowDeselect={false}
            />
            <LinkTester key={template.id} appId={appId} templateId={template.id} userId={userId} forUser />
          </Stack>
        )
      }}
    </Loaded>
  )
}
