import type { ReactNode } from 'react'
import { graphql } from '../api/graphql.ts'
import { units } from '../ui/number.ts'
import { Removal } from './removal.tsx'

const USE = graphql(`
  query BillingTemplateUse($appId: String!, $id: String!) {
    billingTemplateUse(appId: $appId, id: $id) { links refusal }
  }
`)
const ARCHIVE = graphql(`
  mutation ArchiveBillingTemplate($appId: String!, $id: String!, $archived: Boolean!) {
    archiveBillingTemplate(appId: $appId, id: $id, archived: $archived) { id }
  }
`)
const DELETE = graphql(`
  mutation DeleteBillingTemplate($appId: String!, $id: String!) {
    deleteBillingTemplate(appId: $appId, id: $id) { id }
  }
`)

interface TemplateRemovalProps {
  appId: string
  template: { id: string; name: string; archived: boolean }
  onDeleted?: () => void
  size?: 'sm' | 'md'
  /** other actions, before those that remove it */
  children?: ReactNode
}

export function TemplateRemoval({ appId, template, onDeleted, size, children }: TemplateRemovalProps) {
  return (
    <Removal
      what="template"
      appId={appId}
      of={template}
      documents={{ use: USE, archive: ARCHIVE, remove: DELETE }}
      operations={{ archive: 'archiveBillingTemplate', remove: 'deleteBillingTemplate' }}
      refusal={({ billingTemplateUse: found }) => found?.refusal ?? null}
      effects={({ billingTemplateUse: found }) => (found ? effectsOf(found) : [])}
      onDeleted={onDeleted}
      size={size}
    >
      {children}
    </Removal>
  )
}

const effectsOf = ({ links }: { links: number }) => [
  'No new payment links can be created from it.',
  ...(links > 0
    ? [`${units(links, 'link created from it still works', 'links created from it still work')}.`]
    : []),
  'You can restore it at any time.',
]
