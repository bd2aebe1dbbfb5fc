import { Group, Paper, SimpleGrid, type SimpleGridProps, Skeleton, Stack } from '@mantine/core'
import classes from './skeletons.module.css'

const count = (length: number) => Array.from({ length }, (_, index) => index)

interface SkeletonTableProps {
  columns?: number
  rows?: number
  /** how many lines of text a row has */
  lines?: 1 | 2
  /** with the search and filters above it, and the number of what is found */
  tools?: boolean
  total?: boolean
}

/** A table that is on its way, as high as it will be: what is below it stays where it is. */
export function SkeletonTable({
  columns = 4,
  rows = 8,
  lines = 2,
  tools = false,
  total = false,
}: SkeletonTableProps) {
  return (
    <Stack gap="sm">
      {tools && (
        <Group gap="xs">
          <Skeleton height={36} width="min(340px, 100%)" />
          <Skeleton height={36} width={150} visibleFrom="sm" />
        </Group>
      )}
      {total && <Skeleton height={12} my="xxs" width={80} />}
      <Paper radius="md" className={classes.table}>
        {count(rows + 1).map((row) => (
          <div
            key={row}
            data-row={row === 0 ? undefined : row}
            className={row === 0 ? classes.head : lines === 2 ? classes.two : classes.one}
          >
            {count(columns).map((column) => (
              <div key={column} className={column > 1 ? classes.wide : classes.cell}>
                <Skeleton height={row === 0 ? 10 : 12} width={column === 0 ? '70%' : '50%'} />
                {lines === 2 && row > 0 && column === 0 && <Skeleton height={9} width="45%" />}
              </div>
            ))}
          </div>
        ))}
      </Paper>
    </Stack>
  )
}

interface SkeletonCardsProps {
  cards: number
  /** beside each other: as the cards have it */
  cols: NonNullable<SimpleGridProps['cols']>
  height: number
}

/** Cards that are on their way, as many as usual. */
export function SkeletonCards({ cards, cols, height }: SkeletonCardsProps) {
  return (
    <SimpleGrid cols={cols}>
      {count(cards).map((card) => (
        <Paper key={card} p="md" radius="md" h={height}>
          <Stack gap="xs">
            <Skeleton height={14} width="50%" />
            <Skeleton height={12} width="80%" />
          </Stack>
        </Paper>
      ))}
    </SimpleGrid>
  )
}

/** A few lines of text. */
export function SkeletonLines({ lines = 3 }: { lines?: number }) {
  return (
    <Stack gap="xs">
      {count(lines).map((line) => (
        <Skeleton key={line} height={14} width={line === lines - 1 ? '60%' : '100%'} />
      ))}
    </Stack>
  )
}
