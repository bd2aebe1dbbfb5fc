import { Box, Skeleton, Stack } from '@mantine/core'
import { SkeletonRows } from '../ui/loaded.tsx'

/** Stands in a page's place while it is not known who is there, or while the page's code is on its way. */
export function PageLoading() {
  return (
    <Box role="status" aria-label="Loading" maw={1180} mx="auto">
      <Stack gap="lg">
        <Stack gap="xs">
          <Skeleton height={28} width={180} />
          <Skeleton height={16} width="min(360px, 100%)" />
        </Stack>
        <SkeletonRows />
      </Stack>
    </Box>
  )
}
