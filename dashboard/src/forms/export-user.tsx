import { Button, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import { graphql } from '../api/graphql.ts'
import { request } from '../api/request.ts'
import { useWhereabouts } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { notifyFailed } from '../ui/notify.tsx'

const EXPORT = graphql(`
  query ExportUser($appId: String!, $id: String!, $after: String) {
    exportUser(appId: $appId, id: $id, after: $after)
  }
`)

/** It reads whole tables. */
const PATIENCE_MS = 60_000

/** Downloads all that is stored about a user, as one file. */
export function ExportUser({ appId, id }: { appId: string; id: string }) {
  const download = useMutation({
    mutationFn: async () => save(`${id}.json`, await everything(appId, id)),
    networkMode: 'always',
    onMutate: useWhereabouts(),
    onError(error, _, whereabouts) {
      if (whereabouts?.unseen()) notifyFailed(messageOf(error))
    },
  })
  return (
    <Stack gap="xs" align="flex-start">
      <FormAlert error={download.error} />
      <Button variant="default" loading={download.isPending} onClick={() => download.mutate()}>
        Download all data
      </Button>
    </Stack>
  )
}

/** All parts as one: lists go on where the part before ended. */
async function everything(appId: string, id: string): Promise<Record<string, unknown>> {
  const whole: Record<string, unknown> = {}
  for (let after: string | null = null, first = true; first || after !== null; first = false) {
    const { exportUser } = await request(EXPORT, { appId, id, after }, PATIENCE_MS)
    const { next, ...part } = (exportUser ?? {}) as Record<string, unknown>
    for (const [name, value] of Object.entries(part)) {
      const before = whole[name]
      whole[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
    }
    after = typeof next === 'string' ? next : null
  }
  return whole
}

function save(name: string, content: object): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name.replace(/[^\w.@-]/g, '_')
  link.click()
  URL.revokeObjectURL(url)
}
