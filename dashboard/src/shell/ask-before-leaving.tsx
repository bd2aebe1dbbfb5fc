import { useBlocker } from '@tanstack/react-router'
import { LeaveDialog } from '../forms/leave-dialog.tsx'
import { isUnsaved, unsavedForms } from '../forms/unsaved.ts'

/** Asks before another page is opened, or the tab closed, while something is not saved. */
export function AskBeforeLeaving() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isUnsaved,
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  })
  const saves = unsavedForms().map(({ save }) => save)
  const saveAll = async () => {
    for (const save of saves) if (!(await save?.())) return reset?.()
    proceed?.()
  }
  return (
    <LeaveDialog
      opened={status === 'blocked'}
      onStay={() => reset?.()}
      onLeave={() => proceed?.()}
      onSave={
        saves.length > 0 && saves.every((save) => save !== undefined) ? () => void saveAll() : undefined
      }
    />
  )
}
