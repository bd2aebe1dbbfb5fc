import { Modal, type ModalProps } from '@mantine/core'
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react'

const Held = createContext<(held: boolean) => void>(() => {})

/** While this is shown, its dialog closes by its buttons only: a secret that is shown once is gone with it. */
export function useHeldDialog(): void {
  const hold = useContext(Held)
  useEffect(() => {
    hold(true)
    return () => hold(false)
  }, [hold])
}

/** A dialog that starts in its first field, also if what it shows is still being loaded when it opens. */
export function Dialog({ children, ...props }: ModalProps) {
  const [held, setHeld] = useState(false)
  return (
    <Modal {...props} {...(held && { closeOnEscape: false, closeOnClickOutside: false })}>
      <Held value={setHeld}>
        <StartInside>{children}</StartInside>
      </Held>
    </Modal>
  )
}

/**
 * Mantine focuses the first `data-autofocus` it finds once, and without one the button that closes the dialog. This is
 * that first one, and hands the focus on to what is inside, as soon as there is something.
 */
function StartInside({ children }: { children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (!element) return
    let pointed = false
    const handOn = () => {
      // A click beside the fields is no wish to type.
      if (!pointed && document.activeElement === element) firstOf(element)?.focus({ preventScroll: true })
    }
    const point = () => {
      pointed = true
    }
    const arrivals = new MutationObserver(handOn)
    arrivals.observe(element, { childList: true, subtree: true })
    element.addEventListener('focus', handOn)
    element.addEventListener('pointerdown', point)
    return () => {
      arrivals.disconnect()
      element.removeEventListener('focus', handOn)
      element.removeEventListener('pointerdown', point)
    }
  }, [])
  return (
    <div ref={place} tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
      {children}
    </div>
  )
}

const FIELDS = ['input', 'textarea', 'select'].map((name) => `${name}:not([type=hidden], [tabindex="-1"])`)

/** The element that requests focus, else the first field, else the first button. */
function firstOf(element: HTMLElement): HTMLElement | null {
  for (const selector of ['[data-autofocus]', FIELDS.join(', '), 'button'])
    for (const found of element.querySelectorAll<HTMLElement>(selector))
      if (!found.matches(':disabled')) return found
  return null
}
