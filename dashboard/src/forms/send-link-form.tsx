import { Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { SandboxWarning } from '../pages/sandbox-warning.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { offerText, priceText } from '../ui/price.ts'
import { SkeletonLines } from '../ui/skeletons.tsx'
import { CreditLinkForm } from './credit-link-form.tsx'
import { LinkTester } from './link-tester.tsx'

const TEMPLATES = graphql(`
  query SendableTemplates($appId: String!) {
    billingTemplates(appId: $appId) {
      id name problem trialDays prices { amount decimals currency interval }
      choices { prices { amount decimals currency interval } }
    }
    prices(appId: $appId) { id amount decimals currency interval credits { featureId units expiresDays } }
    features(appId: $appId) { id name }
  }
`)

interface SendLinkFormProps {
  appId: string
  userId: string
  /** Offers only credits. */
  credits?: boolean
}

/** Creates a payment link for a user, to send to them. */
export function SendLinkForm({ appId, userId, credits = false }: SendLinkFormProps) {
  const asked = useAsk(TEMPLATES, { appId })
  const [chosen, setChosen] = useState<string | null>(null)
  return (
    <Loaded of={asked} skeleton={<SkeletonLines />}>
      {({ billingTemplates, prices, features }) => {
        const usable = credits ? [] : billingTemplates.filter(({ problem }) => problem === null)
        const packs = prices.flatMap(({ credits, ...price }) => {
          if (!credits) return []
          const featureName = features.find(({ id }) => id === credits.featureId)?.name ?? credits.featureId
          return [{ ...price, ...credits, featureName }]
        })
        const template = usable.find(({ id }) => `template ${id}` === chosen)
        const pack = packs.find(({ id }) => `price ${id}` === chosen)
        const first = template ?? (pack ? undefined : usable[0])
        const sold = pack ?? (first ? undefined : packs[0])
        if (!first && !sold && credits) {
          return (
            <Text size="sm">
              No credits are for sale. Add a price under Prices on the page of a consumable{' '}
              <AnchorLink to="/apps/$app/features" params={{ app: appId }} underline="always" size="sm">
                feature
              </AnchorLink>
              .
            </Text>
          )
        }
        if (!first && !sold) {
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
              data={[
                ...usable.map(({ id, name, prices, choices, trialDays }) => ({
                  value: `template ${id}`,
                  label: `${name} · ${offerText({ prices, choices })}${trialDays ? `, ${trialDays}-day trial` : ''}`,
                })),
                ...packs.map((price) => ({
                  value: `price ${price.id}`,
                  label: `${number(price.units)} units of ${price.featureName} · ${priceText(price)}`,
                })),
              ]}
              value={sold ? `price ${sold.id}` : `template ${first?.id}`}
              onChange={setChosen}
              allowDeselect={false}
            />
            {sold && <CreditLinkForm key={sold.id} appId={appId} userId={userId} price={sold} />}
            {first && (
              <LinkTester key={first.id} appId={appId} templateId={first.id} userId={userId} forUser />
            )}
          </Stack>
        )
      }}
    </Loaded>
  )
}
