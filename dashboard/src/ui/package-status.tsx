import { Tag } from './tag.tsx'

export function PackageStatusTag({ status, hasDraft }: { status: 'DRAFT' | 'PUBLISHED'; hasDraft: boolean }) {
  if (status === 'DRAFT') return <Tag tone="warn">Draft</Tag>
  return (
    <>
      <Tag tone="good">Published</Tag>
      {hasDraft && <Tag tone="warn">Unpublished changes</Tag>}
    </>
  )
}
