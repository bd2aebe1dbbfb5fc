import 'graphiql/style.css'
import './graphiql.css'
import { Paper, useComputedColorScheme } from '@mantine/core'
import { GraphiQL } from 'graphiql'
import { useCallback } from 'react'
import { useAppId, useMe } from '../api/use-account.ts'
import { Page } from '../ui/page.tsx'

const FIRST = `# The Admin API of this app, as you. Ctrl-Enter runs it; the docs are behind the book.
{
  features { id name type }
}
`

const ABOUT = {
  VIEWER: 'Query the Admin API as yourself, no key needed. Viewers cannot run mutations.',
  EDITOR: 'Query the Admin API as yourself, no key needed. Mutations take effect, and are in the audit log.',
  OWNER: 'Query the Admin API as yourself, no key needed. Mutations take effect, and are in the audit log.',
}

/** In the member's name, by the session: no API key comes near the page. */
export function GraphiqlPage() {
  const appId = useAppId()
  const me = useMe()
  const scheme = useComputedColorScheme('light')
  const ask = useCallback(
    async (body: unknown) => {
      const response = await fetch('/dashboard/admin/graphql', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Tollgate-App': encodeURIComponent(appId) },
        body: JSON.stringify(body),
      })
      return response.json()
    },
    [appId],
  )
  return (
    <Page title="GraphiQL" about={ABOUT[me?.role ?? 'VIEWER']}>
      <Paper radius="md" h="calc(100dvh - 164px)" mih={420} style={{ overflow: 'hidden' }}>
        <GraphiQL
          key={appId}
          fetcher={ask}
          defaultQuery={FIRST}
          forcedTheme={scheme}
          isHeadersEditorEnabled={false}
        >
          {/* The page's heading says it already. */}
          <GraphiQL.Logo>{null}</GraphiQL.Logo>
        </GraphiQL>
      </Paper>
    </Page>
  )
}
