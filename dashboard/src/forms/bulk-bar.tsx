import { Button, Group, Menu, Paper, Text } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useMay } from '../api/use-account.ts'
import { Loading } from '../ui/loaded.tsx'
import { number, units } from '../ui/number.ts'
import type { Selection } from '../ui/selection.ts'
import type { BulkKind, BulkSubjects } from './bulk-subjects.ts'
import { FormDialog } from './form-dialog.tsx'

const BulkForm = lazy(async () => ({ default: (await import('./bulk-form.tsx')).BulkForm }))

const ACTIONS: { kind: BulkKind; label: string }[] = [
  { kind: 'plan', label: 'Change plan' },
  { kind: 'trial', label: 'Start a trial' },
  { kind: 'cancel', label: 'Cancel' },
  { kind: 'override', label: 'Set an override' },
]

interface BulkBarProps {
  appId: string
  selection: Selection
  /** of the list with its filters, as far as it is counted */
  total: { count: number; more: boolean } | null | undefined
  one: string
  many: string
  /** all that the list has */
  all: BulkSubjects
}

/** What can be done with the chosen rows of a list; nothing while none is chosen. */
export function BulkBar({ appId, selection, total, one, many, all }: BulkBarProps) {
  const may = useMay()
  const [kind, setKind] = useState<BulkKind | null>(null)
  const { ids } = selection
  if (ids.size === 0) return null
  const everything = total ? `${number(total.count)}${total.more ? '+' : ''} ${many}` : many
  const subjects = selection.all ? all : { list: all.list, ids: [...ids] }
  return (
    <Paper p="xs" radius="md" role="region" aria-label="Selection">
      <Group gap="sm">
        <Text size="sm" fw={550} aria-live="polite">
          {selection.all ? `All ${everything} selected` : `${units(ids.size, one, many)} selected`}
        </Text>
        {!selection.all && (
          <Button variant="subtle" size="xs" onClick={selection.selectAll}>
            Select all {everything}
          </Button>
        )}
        <Button variant="subtle" size="xs" onClick={selection.clear}>
          Clear selection
        </Button>
        <Menu position="bottom-start" withinPortal>
          <Menu.Target>
            <Button
              size="xs"
              disabled={!may('startBulkChange')}
              rightSection={<IconChevronDown size={14} aria-hidden />}
            >
              Change selected
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {ACTIONS.map(({ kind, label }) => (
              <Menu.Item key={kind} onClick={() => setKind(kind)}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </Group>
      <FormDialog
        opened={kind !== null}
        onClose={() => setKind(null)}
        title={`${ACTIONS.find((action) => action.kind === kind)?.label ?? ''}: ${
          selection.all ? `all ${everything}` : units(ids.size, one, many)
        }`}
      >
        <Suspense fallback={<Loading />}>
          {kind !== null && (
            <BulkForm appId={appId} kind={kind} subjects={subjects} onCancel={() => setKind(null)} />
          )}
        </Suspense>
      </FormDialog>
    </Paper>
  )
}
