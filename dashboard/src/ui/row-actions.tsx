import { Flex, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** The buttons of a table's row: beside each other, and one above the other where there is no room. */
export function RowActions({ children }: { children: ReactNode }) {
  return (
    <Flex
      gap="xs"
      justify="flex-end"
      align={{ base: 'flex-end', sm: 'center' }}
      wrap={{ base: 'wrap', sm: 'nowrap' }}
    >
      {children}
    </Flex>
  )
}

/** The part of a label that a phone has no room for. */
export function Wide({ children }: { children: ReactNode }) {
  return (
    <Text span inherit visibleFrom="sm">
      {children}
    </Text>
  )
}
