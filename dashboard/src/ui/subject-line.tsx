import { Group, Text } from '@mantine/core'
import { Children, type ReactNode } from 'react'
import classes from './subject-line.module.css'

interface SubjectLineProps {
  /** a link to the list that this is in */
  list: ReactNode
  id: string
  /** what else there is to know of it, and where */
  children: ReactNode
}

/** Below a subject's name: where it belongs, its id, and more. */
export function SubjectLine({ list, id, children }: SubjectLineProps) {
  const parts = [
    <Group key="breadcrumb" component="nav" aria-label="Breadcrumb" gap="xs">
      {list}
      <span aria-hidden>›</span>
      <Text size="sm" ff="monospace" className="break">
        {id}
      </Text>
    </Group>,
    ...Children.toArray(children),
  ]
  return (
    <div className={classes.clip}>
      <Group gap="xs" fz="sm" className={classes.parts ?? ''}>
        {parts.map((part, index) => (
          <Group key={index} gap="xs" wrap="nowrap" className={classes.part ?? ''}>
            {part}
          </Group>
        ))}
      </Group>
    </div>
  )
}
