import { Box, Skeleton, Stack } from '@mantine/core'
import { SkeletonCards, SkeletonTable } from '../ui/skeletons.tsx'

/** Stands in a page's place while it is not known who is there, or while the page's code is on its way. */
export function PageLoading({ of = 'list' }: { of?: 'list' | 'cards' }) {
  return (
    <Box role="status" aria-label="Loading" maw={1180} mx="auto">
      <Stack gap="lg">
        <Stack gap="xs">
          <Skeleton height={28} width={180} />
          <Skeleton height={16} width="min(360px, 100%)" />
        </Stack>
        {of === 'list' ? (
          <SkeletonTable tools total />
        ) : (
          <SkeletonCards cards={4} cols={{ base: 1, md: 2 }} height={186} />
        )}
      </Stack>
    </Box>
  )
}

/** The same for a page of cards. */
export const CardsLoading = () => <PageLoading of="cards" />
