import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** The secret of a link. It is behind the `#`, which browsers do not send, and is removed from the address once read. */
export function useLinkToken(from: '/setup' | '/invite' | '/reset'): string | undefined {
  const hash = useLocation({ select: (location) => location.hash })
  const navigate = useNavigate()
  const given = new URLSearchParams(hash).get('token') ?? undefined
  const [token, setToken] = useState(given)
  useEffect(() => {
    if (given === undefined) return
    setToken(given)
    void navigate({ to: from, search: {}, hash: '', replace: true })
  }, [given, from, navigate])
  return given ?? token
}
