import { ActionIcon, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

export function CopyIcon({ text, label }: { text: string; label: string }) {
  const { copied, copy } = useClipboard({ timeout: 1_500 })
  return (
    <Tooltip label={copied ? 'Copied' : label} position="left">
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={() => copy(text)}>
        {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </Tooltip>
  )
}
