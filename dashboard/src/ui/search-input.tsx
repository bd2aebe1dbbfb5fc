import { CloseButton, Loader, TextInput, VisuallyHidden } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useIsFetching } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'

interface SearchInputProps {
  label: string
  /** with the label above it, beside other fields that have one */
  labelled?: boolean
  /** the value in the address */
  value: string
  onSearch: (text: string) => void
}

/**
 * Updates the address when typing pauses, and follows the address when that changes. Shows that a search runs from the
 * first letter until its rows are there.
 */
export function SearchInput({ label, labelled = false, value, onSearch }: SearchInputProps) {
  const [text, setText] = useState(value)
  const said = useRef(value)
  const say = useDebouncedCallback((text: string) => {
    said.current = text
    onSearch(text)
  }, 200)
  const isFetching = useIsFetching() > 0
  const [isAwaited, setAwaited] = useState(false)
  const wasFetching = useRef(isFetching)
  useEffect(() => {
    if (wasFetching.current && !isFetching) setAwaited(false)
    wasFetching.current = isFetching
  }, [isFetching])
  const isSearching = text.trim() !== value || (isAwaited && isFetching)
  const change = (text: string) => {
    setText(text)
    setAwaited(true)
  }
  const router = useRouter()
  // What was chosen from the list stays chosen: the next page may take longer to load than typing pauses.
  useEffect(
    () => router.subscribe('onBeforeNavigate', ({ pathChanged }) => pathChanged && say.cancel()),
    [router, say],
  )
  useEffect(() => {
    if (value !== said.current) setText(value)
    said.current = value
  }, [value])
  return (
    <TextInput
      type="search"
      {...(labelled ? { label } : { 'aria-label': label, placeholder: label })}
      className="search"
      leftSection={
        isSearching ? (
          <span role="status">
            <Loader size={14} aria-hidden />
            <VisuallyHidden>Searching</VisuallyHidden>
          </span>
        ) : (
          <IconSearch size={16} aria-hidden />
        )
      }
      rightSection={
        text !== '' && (
          <CloseButton
            size="sm"
            aria-label="Clear the search"
            onClick={() => {
              change('')
              say('')
            }}
          />
        )
      }
      value={text}
      onChange={(event) => {
        change(event.currentTarget.value)
        say(event.currentTarget.value.trim())
      }}
    />
  )
}
