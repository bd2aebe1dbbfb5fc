import { Button, Stack } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { request } from '../api/request.ts'
import { download } from '../ui/csv.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { notify } from '../ui/notify.tsx'
import { number } from '../ui/number.ts'
import { ledgerCsv } from './usage-csv.ts'

const PAGE = graphql(`
  query LedgerExport($appId: String!, $userId: String!, $featureId: String, $after: String) {
    ledger(appId: $appId, userId: $userId, featureId: $featureId, first: 500, after: $after) {
      next
      rows { id featureId action delta used periodStart recordedAt }
    }
  }
`)
type Entry = NonNullable<ResultOf<typeof PAGE>['ledger']>['rows'][number]

/** Enough for most users; the browser holds the file. */
const MAX_ENTRIES = 50_000

interface ExportLedgerProps {
  appId: string
  userId: string
  featureId: string | null
}

/** Downloads the ledger of a user. */
export function ExportLedger({ appId, userId, featureId }: ExportLedgerProps) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const run = async () => {
    setBusy(true)
    setError(null)
    try {
      const entries: Entry[] = []
      let after: string | null = null
      do {
        const { ledger }: ResultOf<typeof PAGE> = await request(PAGE, { appId, userId, featureId, after })
        entries.push(...(ledger?.rows ?? []))
        after = ledger?.next ?? null
      } while (after !== null && entries.length < MAX_ENTRIES)
      download(`ledger-${userId}.csv`, 'text/csv', ledgerCsv(userId, entries))
      if (after !== null) notify(`Exported the newest ${number(entries.length)} entries`)
    } catch (problem) {
      setError(problem instanceof Error ? problem : new Error(String(problem)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack gap="xs" align="flex-end">
      <FormAlert error={error} />
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        loading={busy}
        onClick={() => void run()}
      >
        Export CSV
      </Button>
    </Stack>
  )
}
