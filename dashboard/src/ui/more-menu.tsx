import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'

export interface MenuAction {
  label: string
  onClick: () => void
  /** the member's role does not allow it */
  disabled?: boolean
  /** why it is disabled */
  title?: string | undefined
  danger?: boolean
}

interface MoreMenuProps {
  /** for screen readers, such as "More actions for Ada" */
  label: string
  actions: readonly (MenuAction | false | null | undefined)[]
  /** links, after the actions */
  children?: ReactNode
  /** as high as the buttons beside it */
  size?: 'sm' | 'md'
}

/** The actions that are not the main one, behind three dots. Nothing is shown if there are none. */
export function MoreMenu({ label, actions, children, size = 'md' }: MoreMenuProps) {
  const shown = actions.filter((action) => action !== false && action !== null && action !== undefined)
  if (shown.length === 0 && !children) return null
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="default" size={size === 'sm' ? 26 : 36} aria-label={label}>
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {shown.map(({ label, onClick, disabled = false, title, danger }) => (
          <Menu.Item
            key={label}
            onClick={onClick}
            disabled={disabled}
            title={title}
            {...(danger && { color: 'red' })}
          >
            {label}
          </Menu.Item>
        ))}
        {children}
      </Menu.Dropdown>
    </Menu>
  )
}
