import { createContext, useContext, useEffect, useRef } from 'react'

interface EditedForm {
  isDirty: () => boolean
  /** Forgets that something was changed. */
  discard: () => void
  /** Saves it; false: that was refused, and the form says why. */
  save: (() => Promise<boolean>) | undefined
}

const forms = new Set<EditedForm>()

/** The open forms with changes that are not saved. */
export const unsavedForms = () => [...forms].filter(({ isDirty }) => isDirty())
export const isUnsaved = () => unsavedForms().length > 0

interface Dialog {
  forms: Set<EditedForm>
  /** Closes it; asks first if something in it is not saved. */
  close: () => void
}

export const DialogContext = createContext<Dialog | null>(null)

interface Form {
  isDirty: () => boolean
  resetDirty: () => void
}

/**
 * Makes leaving a form ask while something in it is not saved. Pass what is done after saving through `saved`, so that it may
 * leave. A form that can save itself is offered to do so.
 */
export function useUnsaved(form: Form, save?: () => Promise<boolean>) {
  const dialog = useContext(DialogContext)
  const latest = useRef({ form, save })
  latest.current = { form, save }
  const savesItself = save !== undefined
  useEffect(() => {
    const entry: EditedForm = {
      isDirty: () => latest.current.form.isDirty(),
      discard: () => latest.current.form.resetDirty(),
      save: savesItself ? async () => (await latest.current.save?.()) ?? false : undefined,
    }
    const sets = [forms, ...(dialog ? [dialog.forms] : [])]
    for (const set of sets) set.add(entry)
    return () => {
      for (const set of sets) set.delete(entry)
    }
  }, [dialog, savesItself])
  return {
    saved:
      <Result>(then?: (result: Result) => unknown) =>
      (result: Result) => {
        form.resetDirty()
        return then?.(result)
      },
  }
}
