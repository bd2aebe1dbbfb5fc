import type { ModalProps } from '@mantine/core'
import { useMemo, useRef, useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { DialogContext } from './unsaved.ts'

/** A dialog with a form in it: however it is closed, it asks first if something is not saved. */
export function FormDialog({ onClose, children, ...props }: ModalProps) {
  const [asking, setAsking] = useState(false)
  const latest = useRef(onClose)
  latest.current = onClose
  const dialog = useMemo(() => {
    const forms: NonNullable<React.ContextType<typeof DialogContext>>['forms'] = new Set()
    const close = () => {
      if ([...forms].some(({ isDirty }) => isDirty())) setAsking(true)
      else latest.current()
    }
    return { forms, close }
  }, [])
  const discard = () => {
    setAsking(false)
    for (const form of dialog.forms) form.discard()
    onClose()
  }
  return (
    <>
      <Dialog {...props} onClose={dialog.close}>
        <DialogContext value={dialog}>{children}</DialogContext>
      </Dialog>
      <LeaveDialog opened={asking} onStay={() => setAsking(false)} onLeave={discard} />
    </>
  )
}
