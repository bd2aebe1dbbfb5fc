import { Autocomplete, type AutocompleteProps, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { graphql } from '../api/graphql.ts'
import { useAsk } from '../api/use-api.ts'

const FOUND = graphql(`
  query FindUsers($appId: String!, $search: String!) {
    users(appId: $appId, search: $search, first: 8) { rows { id name email } }
  }
`)

interface UserInputProps extends Omit<AutocompleteProps, 'data' | 'filter' | 'renderOption'> {
  appId: string
  /** the user's id, or what is typed to find one */
  value?: string
}

/** Takes a user's id, and finds it by name, email or billing id. */
export function UserInput({ appId, value = '', ...props }: UserInputProps) {
  const [search] = useDebouncedValue(value.trim(), 150)
  const users =
    useAsk(FOUND, { appId, search }, { enabled: search !== '', keepPrevious: true }).data?.users?.rows ?? []
  const shown = new Map(search === '' ? [] : users.map((user) => [user.id, user]))
  return (
    <Autocomplete
      {...props}
      value={value}
      data={[...shown.keys()]}
      // The server has searched already.
      filter={({ options }) => options}
      renderOption={({ option }) => {
        const user = shown.get(option.value)
        return (
          <div className="break">
            <Text size="sm">{user?.name ?? option.value}</Text>
            <Text size="xs" c="dimmed">
              {[user?.name && option.value, user?.email].filter(Boolean).join(' · ')}
            </Text>
          </div>
        )
      }}
    />
  )
}
