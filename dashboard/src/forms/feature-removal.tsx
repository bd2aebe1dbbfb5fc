import type { ReactNode } from 'react'
import { graphql } from '../api/graphql.ts'
import { units } from '../ui/number.ts'
import { Removal } from './removal.tsx'

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
  /** links of its menu, before the actions */
  children?: ReactNode
  size?: 'sm' | 'md'
}

export function FeatureRemoval({ appId, feature, onDeleted, children, size }: FeatureRemovalProps) {
  return (
    <Removal
      what="feature"
      appId={appId}
      of={feature}
      documents={{ use: USE, archive: ARCHIVE, remove: DELETE }}
      operations={{ archive: 'archiveFeature', remove: 'deleteFeature' }}
      refusal={({ featureUse: found }) => found?.refusal ?? null}
      effects={({ featureUse: found }) => (found ? effectsOf(found) : [])}
      onDeleted={onDeleted}
      size={size}
    >
      {children}
    </Removal>
  )
}

const effectsOf = ({ packages }: { packages: number }) => [
  'It cannot be added to a package or granted by a new override.',
  packages === 0
    ? 'No package includes it.'
    : `${units(packages, 'package keeps', 'packages keep')} it, and current subscribers are not affected.`,
  'You can restore it at any time.',
]
