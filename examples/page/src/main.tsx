import { TollgateClient } from '@tollgate/sdk/browser'
import { TollgateProvider } from '@tollgate/sdk/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Summaries } from './summaries.tsx'

declare const TOLLGATE_URL: string

const client = new TollgateClient({
  baseUrl: TOLLGATE_URL,
  token: async () => {
    const reply = await fetch('/api/token')
    if (!reply.ok) throw new Error(`the backend answered ${reply.status}`)
    return reply.text()
  },
})

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <TollgateProvider client={client}>
      <Summaries />
    </TollgateProvider>
  </StrictMode>,
)
