import { Group, Kbd, Stack, Switch, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { setSingleKeys, singleKeys } from './shortcuts.ts'

const COMMAND = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl'

/** Keys that are pressed one after the other are alternatives. */
const KEYS: [keys: string[], what: string][] = [
  [[`${COMMAND} K`], 'Go to a user, package, feature, page or action'],
  [['/'], 'Search the list on the page'],
  [['j', '↓'], 'Next row of a table'],
  [['k', '↑'], 'Previous row'],
  [['Home', 'End'], 'First and last row'],
  [['Enter'], 'Open the row'],
  [['Esc'], 'Close a dialog or a menu'],
  [[`${COMMAND} Enter`], 'Run the query, in GraphiQL'],
  [['?'], 'Show these shortcuts'],
]

/** What can be done without a mouse. */
export function ShortcutsHelp() {
  const [on, setOn] = useState(singleKeys)
  return (
    <Stack>
      <Table fz="sm" aria-label="Keyboard shortcuts" withRowBorders={false} verticalSpacing="xxs">
        <Table.Tbody>
          {KEYS.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td w={130}>
                <Group gap="xxs">
                  {keys.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </Group>
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed">
        Tab also moves to the rows of a table: to the first one, or to the last one selected.
      </Text>
      <Switch
        label="Single-key shortcuts"
        description="/, ?, and j or k to enter a table. In this browser"
        checked={on}
        onChange={(event) => {
          setSingleKeys(event.currentTarget.checked)
          setOn(event.currentTarget.checked)
        }}
      />
    </Stack>
  )
}
