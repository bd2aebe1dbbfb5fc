import { Box } from '@mantine/core'
import { ACCOUNT } from '../api/session.ts'
import { useAsk } from '../api/use-api.ts'
import { Failed } from '../ui/loaded.tsx'

/** Says why pages show no apps and nothing to change: what the member may do is not known. */
export function AccountFailed() {
  const { data, error, refetch } = useAsk(ACCOUNT, {})
  if (data || !error) return null
  return (
    <Box maw={1180} mx="auto" mb="lg">
      <Failed error={error} retry={() => void refetch()} />
    </Box>
  )
}
