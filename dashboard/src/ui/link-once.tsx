import { Button, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CodeBlock } from './code-block.tsx'
import { useHeldDialog } from './dialog.tsx'

interface LinkOnceProps {
  label: string
  url: string
  /** whom to send it to, and until when it works */
  children: ReactNode
  onDone: () => void
}

/** A link that is shown only once, in a dialog. */
export function LinkOnce({ label, url, children, onDone }: LinkOnceProps) {
  useHeldDialog()
  return (
    <Stack>
      <Text size="sm">{children}</Text>
      <CodeBlock label={label} text={url} />
      <Button onClick={onDone} style={{ alignSelf: 'flex-end' }}>
        Done
      </Button>
    </Stack>
  )
}
