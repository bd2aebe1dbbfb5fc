import { Select, Stack, Text, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { DataTable } from '../ui/data-table.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ObjectDiff } from '../ui/object-diff.tsx'
import { SkeletonLines } from '../ui/skeletons.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'
import { FormActions } from './form-actions.tsx'
import { useUnsaved } from './unsaved.ts'

const DIFF = graphql(`
  query CatalogueDiff($appId: String!, $fromAppId: String!) {
    catalogueDiff(appId: $appId, fromAppId: $fromAppId) {
      features { id name change message before after }
      packages { id name change message before after }
    }
  }
`)
const COPY = graphql(`
  mutation CopyCatalogue($appId: String!, $fromAppId: String!) {
    copyCatalogue(appId: $appId, fromAppId: $fromAppId) { features { id } packages { id } }
  }
`)

const CHANGES: Record<'ADD' | 'CHANGE' | 'SAME' | 'CONFLICT', { tone: Tone; label: string }> = {
  ADD: { tone: 'good', label: 'new' },
  CHANGE: { tone: 'warn', label: 'changes' },
  SAME: { tone: 'plain', label: 'same' },
  CONFLICT: { tone: 'bad', label: 'stays' },
}

interface CopyCatalogueFormProps {
  to: { id: string; name: string }
  /** where the address says that it comes from */
  from: string | null
  apps: { id: string; name: string }[]
  onDone: () => void
}

/** Shows what a copy would do before it does it. */
export function CopyCatalogueForm({ to, apps, onDone, ...given }: CopyCatalogueFormProps) {
  const may = useMay()
  const form = useForm({ initialValues: { from: given.from } })
  const { saved } = useUnsaved(form)
  const { from } = form.values
  const diff = useAsk(DIFF, { appId: to.id, fromAppId: from ?? '' }, { enabled: from !== null })
  const copy = useChange(COPY, {
    done: saved(onDone),
    said: `Catalogue copied to ${to.name}. Packages are drafts until you publish them.`,
    next: { label: 'View packages', to: { to: '/apps/$app/packages', params: { app: to.id } } },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (from !== null) copy.mutate({ appId: to.id, fromAppId: from })
      }}
    >
      <Stack>
        <FormAlert error={copy.error} />
        <Select
          label="From the app"
          placeholder="Choose an app"
          allowDeselect={false}
          data={apps.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('from')}
          data-autofocus
        />
        {from !== null && (
          <Loaded of={diff} skeleton={<SkeletonLines />}>
            {({ catalogueDiff }) => {
              const rows = [
                ...(catalogueDiff?.features.map((entry) => ({ ...entry, kind: 'Feature' })) ?? []),
                ...(catalogueDiff?.packages.map((entry) => ({ ...entry, kind: 'Package' })) ?? []),
              ]
              if (rows.length === 0) return <Text c="dimmed">That app has no catalogue yet.</Text>
              return (
                <Stack>
                  <DataTable
                    label="What the copy does"
                    rows={rows}
                    keyOf={({ kind, id }) => `${kind} ${id}`}
                    columns={[
                      { label: 'Kind', cell: ({ kind }) => kind },
                      { label: 'Name', cell: ({ name }) => name },
                      {
                        label: 'Id',
                        wide: true,
                        cell: ({ id }) => (
                          <Text size="xs" ff="monospace">
                            {id}
                          </Text>
                        ),
                      },
                      {
                        label: 'Here',
                        cell: ({ change, message }) => (
                          <>
                            <Tag tone={CHANGES[change].tone}>{CHANGES[change].label}</Tag>
                            {message !== null && (
                              <Text size="xs" c="dimmed" mt="xxs">
                                {message}
                              </Text>
                            )}
                          </>
                        ),
                      },
                    ]}
                  />
                  {rows
                    .filter(({ change }) => change === 'CHANGE')
                    .map(({ kind, id, name, before, after }) => (
                      <Stack key={`${kind} ${id}`} gap="xs">
                        <Title order={3}>What changes of {name}</Title>
                        <ObjectDiff before={before} after={after} label={`Before and after of ${name}`} />
                      </Stack>
                    ))}
                </Stack>
              )
            }}
          </Loaded>
        )}
        <FormActions
          submit={`Copy to ${to.name}`}
          busy={copy.isPending}
          disabled={!may('copyCatalogue')}
          onCancel={onDone}
        />
      </Stack>
    </form>
  )
}
