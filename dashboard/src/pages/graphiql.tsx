import 'graphiql/style.css'
import { PasswordInput, Stack, Text, useComputedColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { GraphiQL } from 'graphiql'
import { useCallback, useState } from 'react'
import { Page } from '../ui/page.tsx'

const FIRST = `# The Admin API, with the key above. Ctrl-Enter runs it; the docs are behind the book.
{
  features { id name type }
}
`

/** The key stays in this page: it is not stored. */
export function GraphiqlPage() {
  const scheme = useComputedColorScheme('light')
  const [typed, setKey] = useState('')
  // It loads the schema as soon as it has a key: not with every letter typed.
  const [key] = useDebouncedValue(typed, 400)
  const ask = useCallback(
    async (body: unknown) => {
      const response = await fetch('/graphql', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: key },
        body: JSON.stringify(body),
      })
      return response.json()
    },
    [key],
  )
  return (
    <Page title="GraphiQL" about="Write queries against the Admin API.">
      <PasswordInput
        label="API key"
        description="It decides which app is asked. It stays in this page, and is gone when you leave it."
        autoComplete="off"
        maw={440}
        value={typed}
        onChange={(event) => setKey(event.currentTarget.value.trim())}
      />
      {key === '' ? (
        <Text c="dimmed">Enter a key to begin.</Text>
      ) : (
        <Stack
          h="calc(100dvh - 260px)"
          mih={420}
          style={{ border: '1px solid var(--tg-line)', borderRadius: 8, overflow: 'hidden' }}
        >
          <GraphiQL key={key} fetcher={ask} defaultQuery={FIRST} forcedTheme={scheme} />
        </Stack>
      )}
    </Page>
  )
}
