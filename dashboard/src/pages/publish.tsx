import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useNavigate, useParams } from '@tanstack/react-router'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { GrantDiff } from '../ui/grant-diff.tsx'
import { AnchorLink, ButtonLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { PACKAGE } from './package.tsx'
import { PREVIEW, type Preview, PublishImpact } from './publish-impact.tsx'

/** It looks at everybody who holds the package; the service gives itself five minutes for that. */
const PREVIEW_MS = 5 * 60 * 1_000

const PUBLISH = graphql(`
  mutation PublishPackage($appId: String!, $id: String!, $version: String) {
    publishPackage(appId: $appId, id: $id, expectedVersion: $version) { id status }
  }
`)

/** Shows who is affected before publishing. */
export function PublishPage() {
  const { app, id } = useParams({ from: '/inside/apps/$app/packages/$id/publish' })
  const navigate = useNavigate()
  const may = useMay()
  const asked = useAsk(PACKAGE, { appId: app, id })
  const preview = useAsk(PREVIEW, { appId: app, packageId: id }, { patienceMs: PREVIEW_MS })
  const publish = useChange(PUBLISH, {
    said: 'Published: it is in force for everybody now.',
    done: () => navigate({ to: '/apps/$app/packages/$id', params: { app, id } }),
  })
  const name = asked.data?.package?.name ?? id
  return (
    <Page
      title={`Publish ${name}`}
      about={
        <AnchorLink to="/apps/$app/packages/$id" params={{ app, id }} size="sm">
          ‹ Back to the package
        </AnchorLink>
      }
    >
      <FormAlert error={publish.error} />
      <Loaded of={asked}>
        {({ package: p, features }) => {
          if (!p) return null
          if (p.status === 'PUBLISHED' && p.draft === null) {
            return <Text c="dimmed">There is nothing to publish: all edits are in force.</Text>
          }
          const firstTime = p.status === 'DRAFT'
          return (
            <Stack gap="xl">
              <Stack gap="xs">
                <Title order={2}>{firstTime ? 'What subscribers will get' : 'What changes'}</Title>
                {p.draft && p.draft.name !== p.name && (
                  <Text>
                    The name changes from “{p.name}” to “{p.draft.name}”.
                  </Text>
                )}
                <GrantDiff
                  before={firstTime ? [] : p.grants}
                  after={(p.draft ?? p).grants}
                  features={features}
                />
              </Stack>
              {firstTime ? (
                <Text c="dimmed">Nobody has it yet. From then on users can be subscribed to it.</Text>
              ) : (
                <Loaded of={preview}>
                  {({ publishPreview }) =>
                    publishPreview && <PublishImpact preview={publishPreview} app={app} packageId={id} />
                  }
                </Loaded>
              )}
              <Group gap="xs">
                <Button
                  onClick={() => publish.mutate({ appId: app, id, version: p.version })}
                  loading={publish.isPending}
                  // No confirming before the impact is shown.
                  disabled={!may('publishPackage') || (!firstTime && !preview.data)}
                  {...(preview.data?.publishPreview?.lose && { color: 'red.9' })}
                >
                  {publishLabel(preview.data?.publishPreview)}
                </Button>
                <ButtonLink variant="default" to="/apps/$app/packages/$id" params={{ app, id }}>
                  Not yet
                </ButtonLink>
              </Group>
            </Stack>
          )
        }}
      </Loaded>
    </Page>
  )
}

const publishLabel = (preview: Preview | null | undefined) =>
  preview?.lose ? `Publish, though ${number(preview.lose)} lose access` : 'Publish'
