import './styles.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { setSessionEnded } from './api/session-ended.ts'
import { newQueryClient } from './api/use-api.ts'
import { isUnsaved } from './forms/unsaved.ts'
import { newRouter } from './router.tsx'
import { cssVariables, theme } from './theme.ts'

const client = newQueryClient((retry) => {
  if (isUnsaved()) return setSessionEnded(retry)
  // The session has ended: return to the same page after signing in again.
  const { pathname, href } = router.state.location
  if (!['/sign-in', '/setup', '/invite', '/reset'].includes(pathname)) {
    client.clear()
    void router.navigate({ to: '/sign-in', search: { to: href } })
  }
})
const router = newRouter(client)

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
// Until the styles are there, and after a failure outside of every page, what index.html shows by itself is all there is.
const starting = document.getElementById('starting')
const onUncaughtError = (error: unknown) => {
  console.error(error)
  if (starting) document.body.prepend(starting)
}
const styles = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet][media=print]')]
const loaded = styles.map(
  (link) => link.sheet ?? new Promise((resolve) => link.addEventListener('load', resolve)),
)
void Promise.all(loaded).then(() => {
  for (const link of styles) link.media = 'all'
  createRoot(root, { onUncaughtError }).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
        <QueryClientProvider client={client}>
          <Notifications position="bottom-right" mb="var(--tg-notifications-bottom, 0px)" />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
})
