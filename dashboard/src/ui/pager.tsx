import { Button, Group } from '@mantine/core'
import { IconArrowLeft, IconArrowRight } from '@tabler/icons-react'
import { useNavigate, useRouter } from '@tanstack/react-router'

/** Keyset paging: forward by cursor, back by the browser's history. */
export function Pager({ after, next }: { after: string | undefined; next: string | null | undefined }) {
  const router = useRouter()
  const navigate = useNavigate()
  const to = (after: string | undefined) =>
    void navigate({ to: '.', search: (search: Record<string, unknown>) => ({ ...search, after }) } as never)
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
