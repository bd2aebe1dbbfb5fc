import { Button, Group, Stack, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { LinkTester } from '../forms/link-tester.tsx'
import { TemplateForm } from '../forms/template-form.tsx'
import { TemplateRemoval } from '../forms/template-removal.tsx'
import { ArchivedFilter } from '../ui/archived-filter.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { priceText } from '../ui/price.ts'
import { RowActions } from '../ui/row-actions.tsx'
import { Tag } from '../ui/tag.tsx'
import { SandboxWarning } from './sandbox-warning.tsx'

const TEMPLATES = graphql(`
  query BillingTemplates($appId: String!) {
    billingTemplates(appId: $appId, includeArchived: true) {
      id name provider problem archivedAt trialDays trialNeedsCard promotionCodes
      packages { id name }
      prices { id amount decimals currency interval }
    }
  }
`)
export function BillingTemplates({ appId }: { appId: string }) {
  const may = useMay()
  const [making, setMaking] = useState(false)
  const [testing, setTesting] = useState<string | null>(null)
  const asked = useAsk(TEMPLATES, { appId })
  const { show } = useSearch({ from: '/inside/apps/$app/billing' })
  const navigate = useNavigate({ from: '/apps/$app/billing' })
  const make = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setMaking(true)}
      disabled={!may('createBillingTemplate')}
    >
      New template
    </Button>
  )
  return (
    <Stack>
      <Loaded of={asked}>
        {({ billingTemplates }) =>
          billingTemplates.length === 0 ? (
            <Empty title="Create your first template" action={make}>
              A template ties packages to their prices. Your backend passes its id to generateSubscriptionLink
              and sends the user to the link. When they pay, Tollgate subscribes them automatically. Give the
              package a price first.
            </Empty>
          ) : (
            <>
              <Group justify="space-between" gap="sm">
                <ArchivedFilter
                  archived={show === 'archived'}
                  onChange={(archived) =>
                    void navigate({
                      search: ({ show, ...s }) => (archived ? { ...s, show: 'archived' } : s),
                      replace: true,
                    })
                  }
                />
                {make}
              </Group>
              <DataTable
                label="Billing templates"
                rows={billingTemplates.filter(
                  ({ archivedAt }) => (archivedAt !== null) === (show === 'archived'),
                )}
                keyOf={({ id }) => id}
                columns={[
                  {
                    label: 'Template',
                    cell: ({ id, name }) => (
                      <>
                        <Text size="sm" fw={550}>
                          {name}
                        </Text>
                        <Text size="xs" c="dimmed" ff="monospace">
                          {id}
                        </Text>
                      </>
                    ),
                  },
                  {
                    label: 'Packages',
                    wide: true,
                    cell: ({ packages }) => packages.map(({ name }) => name).join(', '),
                  },
                  {
                    label: 'Price',
                    wide: true,
                    cell: ({ prices, ...terms }) => (
                      <>
                        <Text size="sm">{prices.map(priceText).join(' + ')}</Text>
                        <Text size="xs" c="dimmed">
                          {termsText(terms)}
                        </Text>
                      </>
                    ),
                  },
                  {
                    label: 'State',
                    cell: ({ problem, provider, archivedAt }) =>
                      archivedAt !== null ? (
                        <Tag>archived</Tag>
                      ) : problem === null ? (
                        <Tag tone="good">ready, {provider}</Tag>
                      ) : (
                        <>
                          <Tag tone="bad">no link yet</Tag>
                          <Text size="xs" c="dimmed" mt="xxs">
                            {problem}
                          </Text>
                        </>
                      ),
                  },
                  {
                    label: 'Actions',
                    hiddenLabel: true,
                    right: true,
                    cell: ({ id, name, archivedAt }) => (
                      <RowActions>
                        <Button
                          size="compact-sm"
                          variant="default"
                          disabled={!may('generateSubscriptionLink')}
                          aria-label={`Test link of ${name}`}
                          onClick={() => setTesting(id)}
                        >
                          Test link
                        </Button>
                        <TemplateRemoval
                          appId={appId}
                          template={{ id, name, archived: archivedAt !== null }}
                        />
                      </RowActions>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </Loaded>
      <FormDialog opened={making} onClose={() => setMaking(false)} title="New template">
        <TemplateForm appId={appId} onDone={() => setMaking(false)} />
      </FormDialog>
      <Dialog
        opened={testing !== null}
        onClose={() => setTesting(null)}
        size="lg"
        title={`Test the link of ${testing}`}
      >
        <SandboxWarning appId={appId} />
        {testing !== null && <LinkTester appId={appId} templateId={testing} />}
      </Dialog>
    </Stack>
  )
}

function termsText(terms: {
  trialDays?: number | null
  trialNeedsCard: boolean
  promotionCodes: boolean
}): string {
  const { trialDays, trialNeedsCard, promotionCodes } = terms
  const trial = trialDays ? `${trialDays}-day trial${trialNeedsCard ? '' : ' without a card'}` : ''
  return [trial, promotionCodes ? 'promotion codes' : ''].filter((text) => text !== '').join(', ')
}
