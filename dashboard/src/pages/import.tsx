import { Stack, Text, Title } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { useAppId } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { ImportForm } from '../forms/import-form.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { SkeletonTable } from '../ui/skeletons.tsx'
import { When } from '../ui/when.tsx'
import { ImportStateTag } from './import-state.tsx'
import { OneImport } from './one-import.tsx'

const IMPORTS = graphql(`
  query UserImports($appId: String!) {
    userImports(appId: $appId) { id state memberEmail startedAt rows changed newUsers bad }
  }
`)
type Import = ResultOf<typeof IMPORTS>['userImports'][number]

export function ImportPage() {
  const appId = useAppId()
  const { id } = useSearch({ from: '/inside/apps/$app/import' })
  const navigate = useNavigate({ from: '/apps/$app/import' })
  // The form stays during the upload, so that a refusal is shown beside the inputs.
  const [uploading, setUploading] = useState<string | null>(null)
  const inForm = id === undefined
  return (
    <Page
      title="CSV import"
      about={
        inForm ? (
          'Create and update many users from a CSV file.'
        ) : (
          <AnchorLink to="/apps/$app/import" params={{ app: appId }} size="sm">
            ‹ All imports
          </AnchorLink>
        )
      }
    >
      <div hidden={!inForm}>
        <ImportForm
          key={inForm && uploading === null ? 'new' : 'busy'}
          appId={appId}
          onStarted={(id) => {
            setUploading(id)
            void navigate({ search: { id } })
          }}
          onRefused={() => {
            setUploading(null)
            void navigate({ search: {}, replace: true })
          }}
        />
      </div>
      {inForm ? (
        <>
          <Stack gap="xs">
            <Title order={2}>Example</Title>
            <CodeBlock
              label="An example file"
              text={
                'id,name,email,billingId,plan,metadata\nada,Ada Lovelace,ada@example.com,cus_A1,pro,"{""team"":""a""}"\ngrace,Grace Hopper,grace@example.com,,starter,'
              }
            />
          </Stack>
          <Past appId={appId} />
        </>
      ) : (
        <OneImport key={id} appId={appId} id={id} />
      )}
    </Page>
  )
}

function Past({ appId }: { appId: string }) {
  const asked = useAsk(IMPORTS, { appId })
  return (
    <Stack gap="xs">
      <Title order={2}>Past imports</Title>
      <Loaded of={asked} skeleton={<SkeletonTable columns={4} rows={3} lines={1} />}>
        {({ userImports }) =>
          userImports.length === 0 ? (
            <Text c="dimmed">No imports yet.</Text>
          ) : (
            <DataTable
              label="Imports"
              rows={userImports}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'When',
                  cell: ({ id, startedAt }: Import) => (
                    <Link to="/apps/$app/import" params={{ app: appId }} search={{ id }} className="row-link">
                      <When at={startedAt} time />
                    </Link>
                  ),
                },
                { label: 'Status', cell: ({ state }: Import) => <ImportStateTag state={state} /> },
                { label: 'Rows', right: true, cell: ({ rows }: Import) => number(rows) },
                {
                  label: 'New users',
                  right: true,
                  wide: true,
                  cell: ({ newUsers }: Import) => number(newUsers),
                },
                { label: 'Changed', right: true, wide: true, cell: ({ changed }: Import) => number(changed) },
                { label: 'Invalid', right: true, wide: true, cell: ({ bad }: Import) => number(bad) },
                { label: 'By', wide: true, cell: ({ memberEmail }: Import) => memberEmail },
              ]}
            />
          )
        }
      </Loaded>
    </Stack>
  )
}
