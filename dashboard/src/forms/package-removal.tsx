import type { ReactNode } from 'react'
import { graphql } from '../api/graphql.ts'
import { units } from '../ui/number.ts'
import { Removal } from './removal.tsx'

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
  /** links of its menu, before the actions */
  children?: ReactNode
  size?: 'sm' | 'md'
}

export function PackageRemoval({ appId, package: p, onDeleted, children, size }: PackageRemovalProps) {
  return (
    <Removal
      what="package"
      appId={appId}
      of={p}
      documents={{ use: USE, archive: ARCHIVE, remove: DELETE }}
      operations={{ archive: 'archivePackage', remove: 'deletePackage' }}
      refusal={({ packageUse: found }) => found?.refusal ?? null}
      effects={({ packageUse: found }) => (found ? effectsOf(found) : [])}
      onDeleted={onDeleted}
      size={size}
    >
      {children}
    </Removal>
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
  'You can restore it at any time.',
]
