import { ActionIcon, Button, Group, List, Menu, Modal, Stack, Text } from '@mantine/core'
import { IconArchive, IconArchiveOff, IconDots, IconTrash } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'

export type RemovalStep = 'archive' | 'delete' | null

interface RemovalProps<Use> {
  /** "package" */
  what: string
  name: string
  archived: boolean
  step: RemovalStep
  onStep: (step: RemovalStep) => void
  /** what refers to it; asked for once a dialog is open */
  use: UseQueryResult<Use>
  /** Why it cannot be deleted; null: it can. */
  refusal: (use: Use) => string | null
  /** What archiving it does, in numbers. */
  effects: (use: Use) => string[]
  mayArchive: boolean
  mayDelete: boolean
  busy: boolean
  error: Error | null
  onArchive: (archived: boolean) => void
  onDelete: () => void
}

/** A menu that archives, brings back and deletes something, after saying what that does. */
export function Removal<Use>(props: RemovalProps<Use>) {
  const { what, name, archived, step, onStep, use, busy, mayArchive, mayDelete } = props
  const close = () => onStep(null)
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={`More for the ${what} ${name}`}
            disabled={!mayArchive && !mayDelete}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {archived ? (
            <Menu.Item
              leftSection={<IconArchiveOff size={16} aria-hidden />}
              disabled={!mayArchive}
              onClick={() => props.onArchive(false)}
            >
              Bring back
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<IconArchive size={16} aria-hidden />}
              disabled={!mayArchive}
              onClick={() => onStep('archive')}
            >
              Archive
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<IconTrash size={16} aria-hidden />}
            disabled={!mayDelete}
            onClick={() => onStep('delete')}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={step === 'archive'} onClose={close} title={`Archive ${name}?`} ta="left">
        <Stack>
          <FormAlert error={props.error} />
          <Loaded of={use}>
            {(found) => (
              <List size="sm" spacing="xs">
                {props.effects(found).map((effect) => (
                  <List.Item key={effect}>{effect}</List.Item>
                ))}
              </List>
            )}
          </Loaded>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close} data-autofocus>
              Keep
            </Button>
            <Button loading={busy} disabled={!use.data} onClick={() => props.onArchive(true)}>
              Archive
            </Button>
          </Group>
        </Stack>
      </Modal>
      <Modal opened={step === 'delete'} onClose={close} title={`Delete ${name}?`} ta="left">
        <Stack>
          <FormAlert error={props.error} />
          <Loaded of={use}>
            {(found) => {
              const refusal = props.refusal(found)
              return (
                <>
                  {refusal === null ? (
                    <Text size="sm">
                      Nothing refers to this {what}. It will be gone for good; this cannot be undone.
                    </Text>
                  ) : (
                    <Note tone="warn">{refusal}.</Note>
                  )}
                  <Group justify="flex-end" gap="xs">
                    <Button variant="default" onClick={close} data-autofocus>
                      Keep
                    </Button>
                    {refusal === null && (
                      <Button color="red.9" loading={busy} onClick={props.onDelete}>
                        Delete
                      </Button>
                    )}
                    {refusal !== null && !archived && (
                      <Button disabled={!mayArchive} onClick={() => onStep('archive')}>
                        Archive instead
                      </Button>
                    )}
                  </Group>
                </>
              )
            }}
          </Loaded>
        </Stack>
      </Modal>
    </>
  )
}
