import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { units } from '../ui/number.ts'
import { Removal, type RemovalStep } from './removal.tsx'

const USE = graphql(`
  query PackageUse($appId: String!, $id: String!) {
    packageUse(appId: $appId, id: $id) { live subscriptions templates refusal }
  }
`)
const ARCHIVE = graphql(`
  mutation ArchivePackage($appId: String!, $id: String!, $archived: Boolean!) {
    archivePackage(appId: $appId, id: $id, archived: $archived) { id }
  }
`)
const DELETE = graphql(`
  mutation DeletePackage($appId: String!, $id: String!) {
    deletePackage(appId: $appId, id: $id) { id }
  }
`)

interface PackageRemovalProps {
  appId: string
  package: { id: string; name: string; archived: boolean }
  onDeleted?: () => void
}

export function PackageRemoval({ appId, package: p, onDeleted }: PackageRemovalProps) {
  const { id, name, archived } = p
  const may = useMay()
  const [step, setStep] = useState<RemovalStep>(null)
  const close = () => setStep(null)
  const use = useAsk(USE, { appId, id }, { enabled: step !== null })
  const back = useChange(ARCHIVE, { said: `${name} is as it was.` })
  const archive = useChange(ARCHIVE, {
    done: close,
    said: archived ? `${name} is back.` : `${name} is archived.`,
    undo:
      (_, { archived }) =>
      () =>
        back.mutate({ appId, id, archived: !archived }),
  })
  const remove = useChange(DELETE, {
    done: () => {
      close()
      onDeleted?.()
    },
    said: `${name} is deleted.`,
  })
  return (
    <Removal
      what="package"
      name={name}
      archived={archived}
      step={step}
      onStep={setStep}
      use={use}
      refusal={({ packageUse: found }) => found?.refusal ?? null}
      effects={({ packageUse: found }) => (found ? effectsOf(found) : [])}
      mayArchive={may('archivePackage')}
      mayDelete={may('deletePackage')}
      busy={archive.isPending || remove.isPending}
      error={archive.error ?? back.error ?? remove.error}
      onArchive={(archived) => archive.mutate({ appId, id, archived })}
      onDelete={() => remove.mutate({ appId, id })}
    />
  )
}

const effectsOf = ({ live, templates }: { live: number; templates: number }) => [
  'Nobody new can get it: not by subscribing, changing plan, a trial or a payment link.',
  live === 0
    ? 'Nobody has it now.'
    : `${units(live, 'live subscription goes', 'live subscriptions go')} on exactly as before.`,
  ...(templates > 0
    ? [`${units(templates, 'template', 'templates')} can no longer be sold while it is archived.`]
    : []),
  'You can bring it back at any time.',
]
