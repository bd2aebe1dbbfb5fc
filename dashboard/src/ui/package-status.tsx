import { Tag } from './tag.tsx'
import { When } from './when.tsx'

interface PackageStatusTagProps {
  status: 'DRAFT' | 'PUBLISHED'
  hasDraft: boolean
  scheduled: { at: string; problem: string | null } | null
}

export function PackageStatusTag({ status, hasDraft, scheduled }: PackageStatusTagProps) {
  const waiting =
    scheduled?.problem === null ? (
      <Tag tone="accent">
        Scheduled for <When at={scheduled.at} />
      </Tag>
    ) : (
      hasDraft && <Tag tone="warn">Unpublished changes</Tag>
    )
  if (status === 'DRAFT')
    return (
      <>
        <Tag tone="warn">Draft</Tag>
        {waiting}
      </>
    )
  return (
    <>
      <Tag tone="good">Published</Tag>
      {waiting}
    </>
  )
}
