import { Box } from '@mantine/core'
import { SkeletonRows } from '../ui/loaded.tsx'

/** Stands in a page's place while it is not known who is there, or while the page's code is on its way. */
export function PageLoading() {
  return (
    <Box role="status" aria-label="Loading" maw={1180} mx="auto" p="md">
      <SkeletonRows />
    </Box>
  )
}
