import { type FocusEvent, type KeyboardEvent, type MouseEvent, useState } from 'react'

/** What a row does by itself when it is clicked, and what its text is selected in. */
const ITS_OWN = 'a, button, input, textarea, select, label, [role=button], [role=combobox]'

/** Where a row leads: to its page, or else to what its first link or button opens. */
const mainOf = (row: Element) =>
  row.querySelector<HTMLElement>('[data-main]') ??
  row.querySelector<HTMLElement>('.row-link, a[href], button')

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at) => at + 1,
  j: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  k: (at) => at - 1,
  Home: () => 0,
  End: (_, last) => last,
}

/** Moves to another row, from the one that the focus is in. */
function step(event: KeyboardEvent<HTMLElement>): void {
  const next = STEPS[event.key]
  const rows = [...event.currentTarget.children] as HTMLElement[]
  // What is typed into a field belongs to it, and a dialog that a row has opened is no part of the row.
  const at = rows.findIndex((row) => row.contains(event.target as Node))
  if (!next || at === -1 || (event.target as Element).closest('input, [role=combobox]')) return
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
  const row = rows[Math.min(Math.max(next(at, rows.length - 1), 0), rows.length - 1)]
  row?.focus()
  event.preventDefault()
}

function enter(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || event.target !== event.currentTarget) return
  event.preventDefault()
  mainOf(event.currentTarget)?.click()
}

/** A click beside the row's links leads to its page, in a new tab if that is how it was clicked. */
function press(event: MouseEvent<HTMLElement>): void {
  const row = event.currentTarget
  const target = event.target as Element
  if (!row.contains(target) || target.closest(ITS_OWN) || getSelection()?.type === 'Range') return
  const { ctrlKey, metaKey, shiftKey } = event
  const link = row.querySelector('.row-link[data-main]') ?? row.querySelector('.row-link')
  link?.dispatchEvent(
    new globalThis.MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }),
  )
}

/**
 * The rows of a table for the keyboard: Tab leads to one of them, arrows or j and k to the others, Enter to its page.
 * One stop for all, or it would take as many as there are rows to get past a table.
 */
export function useRows(count: number) {
  const [stop, setStop] = useState(0)
  const reached = Math.min(stop, count - 1)
  return {
    body: { onKeyDown: step },
    row: (index: number) => ({
      tabIndex: index === reached ? 0 : -1,
      onKeyDown: enter,
      onClick: press,
      onFocus: (event: FocusEvent<HTMLElement>) => {
        if (event.currentTarget.contains(event.target)) setStop(index)
      },
    }),
  }
}

/** From anywhere on the page, to the table's row that was left last. */
export function enterTable(): void {
  document.querySelector<HTMLElement>('main tbody tr[tabindex="0"]')?.focus()
}
