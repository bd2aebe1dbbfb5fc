import { Group, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type CatalogueFeature, type Grant, grantChanges } from '../grants.ts'
import { GrantDiff } from '../ui/grant-diff.tsx'

interface Version {
  version: number
  grants: readonly Grant[]
}

interface CompareVersionsProps {
  /** newest first */
  versions: readonly Version[]
  /** the one that was chosen: it is compared with the one before it */
  version: number
  features: readonly CatalogueFeature[]
}

/** What two versions of a package grant, side by side. */
export function CompareVersions({ versions, version, features }: CompareVersionsProps) {
  const [chosen, setChosen] = useState(version > 1 ? [version - 1, version] : [1, 2])
  const [before, after] = chosen.map((number) => versions.find((v) => v.version === number))
  const options = versions.map(({ version }) => ({ value: `${version}`, label: `Version ${version}` }))
  const select = (label: string, side: 0 | 1) => (
    <Select
      label={label}
      w={160}
      allowDeselect={false}
      data={options}
      value={`${chosen[side]}`}
      onChange={(value) => setChosen(chosen.map((now, i) => (i === side ? Number(value) : now)))}
    />
  )
  return (
    <Stack>
      <Group>
        {select('From', 0)}
        {select('To', 1)}
      </Group>
      {before && after && (
        <>
          {grantChanges(before.grants, after.grants).every(({ same }) => same) && (
            <Text size="sm">These versions grant the same limits.</Text>
          )}
          <GrantDiff
            before={before.grants}
            after={after.grants}
            features={features}
            labels={{ before: `Version ${before.version}`, after: `Version ${after.version}` }}
          />
        </>
      )}
    </Stack>
  )
}
