import { Button, Group } from '@mantine/core'
import { IconArrowLeft, IconArrowRight } from '@tabler/icons-react'
import { useNavigate, useRouter } from '@tanstack/react-router'

interface PagerProps {
  after: string | undefined
  next: string | null | undefined
  /** how many rows come before the next page, kept in the address; undefined: not known */
  before?: number | undefined
}

/** Keyset paging: forward by cursor, back by the browser's history. */
export function Pager({ after, next, before }: PagerProps) {
  const router = useRouter()
  const navigate = useNavigate()
  const to = (after: string | undefined) =>
    void navigate({
      to: '.',
      search: ({ at, ...search }: Record<string, unknown>) => ({
        ...search,
        after,
        ...(after !== undefined && before !== undefined && { at: String(before) }),
      }),
    } as never)
  if (after === undefined && !next) return null
  return (
    <Group gap="xs" component="nav" aria-label="Pages">
      <Button
        variant="default"
        size="xs"
        leftSection={<IconArrowLeft size={14} aria-hidden />}
        disabled={after === undefined}
        onClick={() => (router.history.canGoBack() ? router.history.back() : to(undefined))}
      >
        Back
      </Button>
      <Button
        variant="default"
        size="xs"
        rightSection={<IconArrowRight size={14} aria-hidden />}
        disabled={!next}
        onClick={() => next && to(next)}
      >
        Next
      </Button>
      {after !== undefined && (
        <Button variant="subtle" size="xs" onClick={() => to(undefined)}>
          First page
        </Button>
      )}
    </Group>
  )
}

/** How many rows come before the page, as the address says; undefined: a page of which that is not known. */
export function rowsBefore(after: string | undefined, at: string | undefined): number | undefined {
  if (after === undefined) return 0
  return at !== undefined && /^\d{1,9}$/.test(at) ? Number(at) : undefined
}
