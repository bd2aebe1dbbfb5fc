import { useEffect } from 'react'
import { enterTable } from '../ui/table-rows.ts'

const OFF = 'tollgate-shortcuts-off'

/** Some type by voice, or rest a hand on the keys: single keys can be turned off, in this browser. */
export const singleKeys = (): boolean => localStorage.getItem(OFF) === null
export const setSingleKeys = (on: boolean): void =>
  on ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, '1')

/** Where a letter is text, or chooses from a list. */
const TYPED =
  'input, textarea, select, [contenteditable], [role=textbox], [role=menu], [role=listbox], [role=dialog], .monaco-editor'

function findField(): void {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]')
  field?.focus()
  field?.select()
}

const KEYS: Record<string, () => void> = { j: enterTable, k: enterTable, '/': findField }

/** The keys that work anywhere on a page: those of a table are in table-rows.ts, that of the command bar is its own. */
export function useShortcuts(help: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = event.key === '?' ? help : KEYS[event.key]
      if (!act || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest(TYPED)) return
      if (!singleKeys() || document.querySelector('[role=dialog]')) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [help])
}
