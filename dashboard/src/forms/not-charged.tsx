import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { SandboxWarning } from '../pages/sandbox-warning.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Note } from '../ui/note.tsx'
import { type Money, priceText } from '../ui/price.ts'
import { LinkTester } from './link-tester.tsx'

const TEMPLATES = graphql(`
  query SellingTemplates($appId: String!) {
    billingTemplates(appId: $appId) { id name problem packages { id } }
  }
`)

interface Offered {
  id: string
  name: string
  prices: readonly (Money & { interval: string | null })[]
}

interface NotChargedProps {
  appId: string
  /** packages granted without a charge; free ones are ignored */
  packages: readonly (Offered | undefined)[]
  /** what happens instead of a charge */
  children: ReactNode
  /** Sells it by a payment link of this template instead. */
  onSell: (templateId: string) => void
}

/** Says that a priced package is given without a payment, and offers to sell it by a payment link. */
export function NotCharged({ appId, packages, children, onSell }: NotChargedProps) {
  const may = useMay()
  const [chosen, setChosen] = useState<string | null>(null)
  const sold = packages.filter((p) => p !== undefined).filter(isPriced)
  const asked = useAsk(TEMPLATES, { appId }, { enabled: sold.length > 0 })
  if (sold.length === 0) return null
  const templates = (asked.data?.billingTemplates ?? [])
    .filter(
      ({ problem, packages }) =>
        problem === null && sold.every((p) => packages.some(({ id }) => id === p.id)),
    )
    .sort((a, b) => a.packages.length - b.packages.length)
  const template = templates.find(({ id }) => id === chosen) ?? templates[0]
  return (
    <Note tone="warn" title="Not charged">
      <Stack gap="xs">
        <Text size="sm">
          {sold.map(costText).join(' ')} {children}
        </Text>
        {template ? (
          <Group gap="xs" align="flex-end">
            {templates.length > 1 && (
              <Select
                label="Billing template"
                size="xs"
                data={templates.map(({ id, name }) => ({ value: id, label: name }))}
                value={template.id}
                onChange={setChosen}
                allowDeselect={false}
              />
            )}
            <Button
              size="xs"
              variant="default"
              disabled={!may('generateSubscriptionLink')}
              onClick={() => onSell(template.id)}
            >
              Send a payment link instead
            </Button>
          </Group>
        ) : (
          asked.data && (
            <Text size="sm">
              To send a payment link instead, create a template for it on the{' '}
              <AnchorLink to="/apps/$app/billing" params={{ app: appId }} underline="always" size="sm">
                Billing page
              </AnchorLink>
              .
            </Text>
          )
        )}
      </Stack>
    </Note>
  )
}

export const isPriced = ({ prices }: Offered): boolean => prices.some(({ amount }) => amount > 0)

export const costText = ({ name, prices }: Offered): string =>
  `${name} costs ${prices
    .filter(({ amount }) => amount > 0)
    .map(priceText)
    .join(' or ')}.`

/** `instead` takes the place of a form that would give something away, once `sell` was called. */
export function useSellByLink(appId: string, userId: string, form: { resetDirty: () => void }) {
  const [templateId, sell] = useState<string | null>(null)
  const instead = templateId !== null && (
    <Stack>
      <Text size="sm">Send the user a payment link. Nothing changes until they pay.</Text>
      <SandboxWarning appId={appId} />
      <LinkTester
        appId={appId}
        templateId={templateId}
        userId={userId}
        forUser
        onMade={() => form.resetDirty()}
      />
      <Group>
        <Button variant="default" onClick={() => sell(null)}>
          Back
        </Button>
      </Group>
    </Stack>
  )
  return { sell, instead }
}
