import { Flex } from '@mantine/core'
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
