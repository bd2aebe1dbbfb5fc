import { ActionIcon, Button, Group, List, Menu, Stack, Text } from '@mantine/core'
import { IconArchive, IconArchiveOff, IconDots, IconTrash } from '@tabler/icons-react'
import type { TadaDocumentNode } from 'gql.tada'
import { type ReactNode, useState } from 'react'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Note } from '../ui/note.tsx'
import { SkeletonLines } from '../ui/skeletons.tsx'

type Step = 'archive' | 'delete' | null
type Operation = Parameters<ReturnType<typeof useMay>>[0]
interface At {
  appId: string
  id: string
}

interface RemovalProps<Use, Archived, Deleted> {
  /** "package" */
  what: string
  appId: string
  of: { id: string; name: string; archived: boolean }
  /** What refers to it is asked for once a dialog is open. */
  documents: {
    use: TadaDocumentNode<Use, At>
    archive: TadaDocumentNode<Archived, At & { archived: boolean }>
    remove: TadaDocumentNode<Deleted, At>
  }
  operations: { archive: Operation; remove: Operation }
  /** Why it cannot be deleted; null: it can. */
  refusal: (use: Use) => string | null
  /** What archiving it does, in numbers. */
  effects: (use: Use) => string[]
  onDeleted?: (() => void) | undefined
  /** links of the menu, before the actions */
  children?: ReactNode
  /** of the button: in a row of a table, or on the page */
  size?: 'sm' | 'md' | undefined
}

/** A menu that archives, brings back and deletes something, after saying what that does. */
export function Removal<Use, Archived, Deleted>(props: RemovalProps<Use, Archived, Deleted>) {
  const { what, appId, documents, operations } = props
  const { id, name, archived } = props.of
  const may = useMay()
  const mayArchive = may(operations.archive)
  const mayDelete = may(operations.remove)
  const [step, setStep] = useState<Step>(null)
  const close = () => setStep(null)
  const use = useAsk(documents.use, { appId, id }, { enabled: step !== null })
  const back = useChange(documents.archive, { said: `${name}: archiving undone.` })
  const archive = useChange(documents.archive, {
    done: close,
    said: archived ? `${name} restored.` : `${name} archived.`,
    undo:
      (_, { archived }) =>
      () =>
        back.mutate({ appId, id, archived: !archived }),
  })
  const remove = useChange(documents.remove, {
    done: () => {
      close()
      props.onDeleted?.()
    },
    said: `${name} deleted.`,
  })
  const busy = archive.isPending || remove.isPending
  const error = archive.error ?? back.error ?? remove.error
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon
            variant="default"
            size={props.size === 'sm' ? 26 : 36}
            aria-label={`More for the ${what} ${name}`}
            disabled={!mayArchive && !mayDelete && !props.children}
          >
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {props.children}
          {archived ? (
            <Menu.Item
              leftSection={<IconArchiveOff size={16} aria-hidden />}
              disabled={!mayArchive}
              onClick={() => archive.mutate({ appId, id, archived: false })}
            >
              Restore
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<IconArchive size={16} aria-hidden />}
              disabled={!mayArchive}
              onClick={() => setStep('archive')}
            >
              Archive
            </Menu.Item>
          )}
          <Menu.Item
            leftSection={<IconTrash size={16} aria-hidden />}
            disabled={!mayDelete}
            onClick={() => setStep('delete')}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={step === 'archive'} onClose={close} title={`Archive ${name}?`} ta="left">
        <Stack>
          <FormAlert error={error} />
          <Loaded of={use} skeleton={<SkeletonLines />}>
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
              Cancel
            </Button>
            <Button
              loading={busy}
              disabled={!use.data}
              onClick={() => archive.mutate({ appId, id, archived: true })}
            >
              Archive
            </Button>
          </Group>
        </Stack>
      </Dialog>
      <Dialog opened={step === 'delete'} onClose={close} title={`Delete ${name}?`} ta="left">
        <Stack>
          <FormAlert error={error} />
          <Loaded of={use} skeleton={<SkeletonLines />}>
            {(found) => {
              const refusal = props.refusal(found)
              return (
                <>
                  {refusal === null ? (
                    <Text size="sm">Nothing refers to this {what}. This cannot be undone.</Text>
                  ) : (
                    <Note tone="warn">{refusal}.</Note>
                  )}
                  <Group justify="flex-end" gap="xs">
                    <Button variant="default" onClick={close} data-autofocus>
                      Cancel
                    </Button>
                    {refusal === null && (
                      <Button color="red.9" loading={busy} onClick={() => remove.mutate({ appId, id })}>
                        Delete
                      </Button>
                    )}
                    {refusal !== null && !archived && (
                      <Button disabled={!mayArchive} onClick={() => setStep('archive')}>
                        Archive instead
                      </Button>
                    )}
                  </Group>
                </>
              )
            }}
          </Loaded>
        </Stack>
      </Dialog>
    </>
  )
}
