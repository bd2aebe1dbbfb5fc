import { Text } from '@mantine/core'
import { type CatalogueFeature, type Grant, grantChanges, grantText } from '../grants.ts'
import { DataTable } from './data-table.tsx'
import { Tag } from './tag.tsx'

interface GrantDiffProps {
  before: readonly Grant[]
  after: readonly Grant[]
  features: readonly CatalogueFeature[]
  /** what the sides are called */
  labels?: { before: string; after: string }
}

const DRAFT = { before: 'Published', after: 'Draft' }

/** Two versions side by side: the published one and the draft, unless the labels say otherwise. */
export function GrantDiff({ before, after, features, labels = DRAFT }: GrantDiffProps) {
  const featureOf = (id: string) => features.find((feature) => feature.id === id)
  const changes = grantChanges(before, after)
  return (
    <DataTable
      comparison
      label={`${labels.before} and ${labels.after.toLowerCase()}`}
      rows={changes}
      keyOf={({ id }) => id}
      columns={[
        { label: 'Feature', cell: ({ id }) => featureOf(id)?.name ?? id },
        { label: labels.before, cell: ({ id, before }) => sideText(before, featureOf(id)) },
        {
          label: labels.after,
          cell: ({ id, after, same }) => (
            <Text size="sm" fw={same ? undefined : 650}>
              {sideText(after, featureOf(id))}
            </Text>
          ),
        },
        {
          label: 'Change',
          right: true,
          // The sides say it too, and a phone has room for them only.
          wide: true,
          cell: ({ before, after, same }) =>
            same ? (
              <Tag>Unchanged</Tag>
            ) : before === null ? (
              <Tag tone="good">Added</Tag>
            ) : after === null ? (
              <Tag tone="bad">Removed</Tag>
            ) : (
              <Tag tone="warn">Changed</Tag>
            ),
        },
      ]}
    />
  )
}

const sideText = (grant: Grant | null, feature: CatalogueFeature | undefined) =>
  grant === null ? '—' : grantText(grant, feature)
