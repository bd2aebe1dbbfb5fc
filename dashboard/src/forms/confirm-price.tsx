import { Button, Group, List, Paper, Stack, Text } from '@mantine/core'
import { Note } from '../ui/note.tsx'
import { providerName } from '../ui/price.ts'

interface ConfirmPriceProps {
  /** as customers see it; null: only the provider knows */
  shown: string | null
  provider: string
  /** null: the provider has no live mode */
  livemode: boolean | null
  submit: string
  busy: boolean
  onBack: () => void
  onConfirm: () => void
}

/** What a price means, once more before it can be bought. */
export function ConfirmPrice({
  shown,
  provider,
  livemode,
  submit,
  busy,
  onBack,
  onConfirm,
}: ConfirmPriceProps) {
  return (
    <Stack>
      <Paper withBorder radius="md" p="md" ta="center">
        <Text size="xs" c="dimmed">
          Customers will see
        </Text>
        <Text fz={28} fw={650} className="numbers">
          {shown ?? `the price set at ${providerName(provider)}`}
        </Text>
      </Paper>
      {livemode ? (
        <Note tone="warn" title="Real money">
          {providerName(provider)} is in live mode: customers are charged this price.
        </Note>
      ) : (
        <Text size="sm" c="dimmed">
          {provider === 'sandbox' ? 'The sandbox' : `${providerName(provider)} in test mode`} moves no money.
        </Text>
      )}
      <List size="sm" spacing="xs">
        <List.Item>New payment links charge it, unless their template names another price.</List.Item>
        <List.Item>Current subscribers keep their price.</List.Item>
        <List.Item>It cannot be edited. To change it, add another price and archive this one.</List.Item>
      </List>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onBack}>
          Back
        </Button>
        <Button loading={busy} onClick={onConfirm} data-autofocus>
          {submit}
        </Button>
      </Group>
    </Stack>
  )
}
