import { AppShell, Skeleton, Stack } from '@mantine/core'
import { PageLoading } from './page-loading.tsx'
import { SIZES } from './shell-sizes.ts'

/** The frame while it is not known who is there. */
export function ShellLoading() {
  return (
    <AppShell {...SIZES} navbar={{ ...SIZES.navbar, collapsed: { mobile: true } }}>
      <AppShell.Header hiddenFrom="sm" />
      <AppShell.Navbar p="sm" bg="var(--tg-surface)" aria-hidden>
        <Stack gap="xs">
          <Skeleton height={28} width={120} mb="xs" />
          <Skeleton height={44} mb="md" />
          {Array.from({ length: 8 }, (_, row) => (
            <Skeleton key={row} height={20} />
          ))}
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main>
        <PageLoading />
      </AppShell.Main>
    </AppShell>
  )
}
