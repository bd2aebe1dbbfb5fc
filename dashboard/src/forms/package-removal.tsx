import { IconCopy } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { MenuItemLink } from '../ui/links.tsx'
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

/** Leads to the form for a copy. */
export function DuplicateItem({ appId, id }: { appId: string; id: string }) {
  const may = useMay()
  return (
    <MenuItemLink
      to="/apps/$app/packages"
      params={{ app: appId }}
      search={{ make: '1', from: id }}
      leftSection={<IconCopy size={16} aria-hidden />}
      disabled={!may('createPackage')}
    >
      Duplicate
    </MenuItemLink>
  )
}

const effectsOf = ({ live, templates }: { live: number; templates: number }) => [
  'No new user can get it by subscribing, changing plans, a trial or a payment link.',
  live === 0
    ? 'It has no subscribers.'
    : `${units(live, 'live subscription continues', 'live subscriptions continue')} unchanged.`,
  ...(templates > 0
    ? [`${units(templates, 'template', 'templates')} can no longer be sold while it is archived.`]
    : []),
  'You can restore it at any time.',
]
