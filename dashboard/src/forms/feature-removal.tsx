import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { units } from '../ui/number.ts'
import { Removal, type RemovalStep } from './removal.tsx'

const USE = graphql(`
  query FeatureUse($appId: String!, $id: String!) {
    featureUse(appId: $appId, id: $id) { packages refusal }
  }
`)
const ARCHIVE = graphql(`
  mutation ArchiveFeature($appId: String!, $id: String!, $archived: Boolean!) {
    archiveFeature(appId: $appId, id: $id, archived: $archived) { id }
  }
`)
const DELETE = graphql(`
  mutation DeleteFeature($appId: String!, $id: String!) {
    deleteFeature(appId: $appId, id: $id) { id }
  }
`)

interface FeatureRemovalProps {
  appId: string
  feature: { id: string; name: string; archived: boolean }
  onDeleted?: () => void
}

export function FeatureRemoval({ appId, feature, onDeleted }: FeatureRemovalProps) {
  const { id, name, archived } = feature
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
      what="feature"
      name={name}
      archived={archived}
      step={step}
      onStep={setStep}
      use={use}
      refusal={({ featureUse: found }) => found?.refusal ?? null}
      effects={({ featureUse: found }) => (found ? effectsOf(found) : [])}
      mayArchive={may('archiveFeature')}
      mayDelete={may('deleteFeature')}
      busy={archive.isPending || remove.isPending}
      error={archive.error ?? back.error ?? remove.error}
      onArchive={(archived) => archive.mutate({ appId, id, archived })}
      onDelete={() => remove.mutate({ appId, id })}
    />
  )
}

const effectsOf = ({ packages }: { packages: number }) => [
  'It cannot be added to a package or granted by a new override.',
  packages === 0
    ? 'No package has it now.'
    : `${units(packages, 'package keeps', 'packages keep')} it, and everyone who has it can go on using it.`,
  'You can bring it back at any time.',
]
