import { AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useParams, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useApps } from '../api/use-account.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Loading } from '../ui/loaded.tsx'
import { Mark } from '../ui/mark.tsx'
import { AccountFailed } from './account-failed.tsx'
import { AccountMenu } from './account-menu.tsx'
import { AppSwitcher } from './app-switcher.tsx'
import { ArchivedBanner } from './archived-banner.tsx'
import { AskBeforeLeaving } from './ask-before-leaving.tsx'
import { ClockBanner } from './clock-banner.tsx'
import { CommandBar, OpenCommandBar } from './command-bar.tsx'
import { rememberApp, rememberedApp } from './last-app.ts'
import { Navigation } from './navigation.tsx'
import classes from './shell.module.css'
import { SIZES } from './shell-sizes.ts'
import { useShortcuts } from './shortcuts.ts'
import { SignInAgain } from './sign-in-again.tsx'

const ShortcutsHelp = lazy(async () => ({ default: (await import('./shortcuts-help.tsx')).ShortcutsHelp }))

/** The frame around every page behind the sign-in. */
export function Shell() {
  const [open, { toggle, close }] = useDisclosure()
  const apps = useApps()
  const { app: inAddress } = useParams({ strict: false })
  // An address may name an app that does not exist: the menu stays with one that does, and that is what is remembered.
  const current = apps.find(({ id }) => id === inAddress)
  const app = current?.id ?? (apps.length > 0 ? rememberedApp(apps) : (inAddress ?? rememberedApp([])))
  const [help, helping] = useDisclosure()
  useShortcuts(helping.open)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(() => current && rememberApp(current.id), [current])
  useEffect(close, [path])

  return (
    <AppShell {...SIZES} navbar={{ ...SIZES.navbar, collapsed: { mobile: !open } }}>
      <a href="#page" className="skip">
        Skip to the page
      </a>
      <AppShell.Header hiddenFrom="sm" px="sm">
        <Group h="100%" gap="xs" wrap="nowrap">
          <Burger opened={open} onClick={toggle} size="sm" aria-label={open ? 'Close menu' : 'Open menu'} />
          <Mark size={24} />
          <Text fw={650} truncate flex={1}>
            {apps.find(({ id }) => id === app)?.name ?? app}
          </Text>
          <OpenCommandBar compact />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar} aria-label="Main">
        <Group gap="xs" px="xs" visibleFrom="sm" mb="md">
          <Mark />
          <Text fw={700} fz="lg" lts="-0.01em">
            Tollgate
          </Text>
        </Group>
        <AppSwitcher app={app} />
        <div className={classes.search}>
          <OpenCommandBar />
        </div>
        <ScrollArea className={classes.places} type="hover" scrollbarSize={6} offsetScrollbars="y">
          <Navigation app={app} />
        </ScrollArea>
        <AccountMenu onShortcuts={helping.open} />
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1} className={classes.main}>
        <ArchivedBanner />
        <ClockBanner />
        <AccountFailed />
        <Outlet />
      </AppShell.Main>
      <CommandBar app={app} onShortcuts={helping.open} />
      <Dialog opened={help} onClose={helping.close} title="Keyboard shortcuts">
        <Suspense fallback={<Loading />}>
          <ShortcutsHelp />
        </Suspense>
      </Dialog>
      <AskBeforeLeaving />
      <SignInAgain />
    </AppShell>
  )
}
