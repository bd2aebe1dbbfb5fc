import { Text } from '@mantine/core'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'
import { Note } from '../ui/note.tsx'
import { providerName } from '../ui/price.ts'

const CARD = graphql(`
  query HasSavedCard($appId: String!, $userId: String!, $provider: String!) {
    hasSavedCard(appId: $appId, userId: $userId, provider: $provider)
  }
`)

/** Whether a user has a card that can be charged; `unknown`: the provider did not answer, null: not yet. */
export type CardState = 'saved' | 'none' | 'unknown' | null

export function useSavedCard(appId: string, userId: string, provider: string | undefined): CardState {
  const { data, error } = useAsk(
    CARD,
    { appId, userId, provider: provider ?? '' },
    { enabled: provider !== undefined },
  )
  if (error) return 'unknown'
  if (!data) return null
  return data.hasSavedCard ? 'saved' : 'none'
}

export function SavedCard({ card, provider }: { card: CardState; provider: string }) {
  const name = providerName(provider)
  switch (card) {
    case null:
      return null
    case 'saved':
      return (
        <Text size="sm" c="dimmed">
          Charged to the user's saved card ({name}).
        </Text>
      )
    case 'unknown':
      return (
        <Note tone="warn">
          {name} did not answer whether the user has a saved card. Without one, charges fail.
        </Note>
      )
    case 'none':
      return (
        <Note tone="warn" title="A saved card is needed">
          The user has none ({name}). Without one, the first charge fails and the recharge turns itself off.
          Below is a payment link that sells credits and saves the card.
        </Note>
      )
  }
}
