import { Button, Group, Radio, Stack, Text, TextInput, Title } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { OVER_ALL_USERS_MS } from '../api/answer-in-time.ts'
import { fieldErrorOf } from '../api/api-error.ts'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { isoOfLocal, localMinute, timeZone } from '../forms/local-time.ts'
import { Dialog } from '../ui/dialog.tsx'
import { FormAlert } from '../ui/form-alert.tsx'
import { GrantDiff } from '../ui/grant-diff.tsx'
import { AnchorLink, ButtonLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
import { Page } from '../ui/page.tsx'
import { SkeletonCards, SkeletonLines } from '../ui/skeletons.tsx'
import { StickyActions } from '../ui/sticky-actions.tsx'
import { dateTimeOf } from '../ui/when.tsx'
import { PACKAGE } from './package-query.ts'
import { PREVIEW, type Preview, PublishFigures, PublishTouched } from './publish-impact.tsx'
import { publishSummary, REACH_LABELS, type Reach, subscribers } from './publish-summary.ts'

const PUBLISH = graphql(`
  mutation PublishPackage($appId: String!, $id: String!, $for: Reach!, $note: String, $at: String, $version: String) {
    publishPackage(appId: $appId, id: $id, for: $for, note: $note, at: $at, expectedVersion: $version) { id scheduled { at } }
  }
`)

const REACHES: { value: Reach; about: string; said: string }[] = [
  {
    value: 'ALL',
    about: 'All current subscribers get the new version as soon as it is published.',
    said: 'It is live for all subscribers.',
  },
  {
    value: 'NEW_ONLY',
    about: 'Current subscribers keep the version they bought. You can move them later.',
    said: 'New subscribers get it.',
  },
  {
    value: 'AT_PERIOD_END',
    about: 'Current subscribers keep their version until their period ends. New subscribers get the new one.',
    said: 'Current subscribers get it when their period ends.',
  },
]

/** Shows who is affected before publishing. */
export function PublishPage() {
  const { app, id } = useParams({ from: '/inside/apps/$app/packages/$id/publish' })
  const navigate = useNavigate()
  const may = useMay()
  const asked = useAsk(PACKAGE, { appId: app, id })
  const { for: chosen } = useSearch({ from: '/inside/apps/$app/packages/$id/publish' })
  const waiting = asked.data?.package?.scheduled ?? null
  const reach = chosen ?? waiting?.for ?? 'ALL'
  const preview = useAsk(
    PREVIEW,
    { appId: app, packageId: id, for: reach },
    { patienceMs: OVER_ALL_USERS_MS },
  )
  const publish = useChange(PUBLISH, {
    said: ({ publishPackage }) =>
      publishPackage?.scheduled
        ? `${name} will be published on ${dateTimeOf(publishPackage.scheduled.at)}.`
        : `${name} is published. ${REACHES.find(({ value }) => value === reach)?.said ?? ''}`,
    done: () => navigate({ to: '/apps/$app/packages/$id', params: { app, id } }),
  })
  const [confirming, setConfirming] = useState(false)
  const [typedNote, setNote] = useState<string | null>(null)
  const note = typedNote ?? waiting?.note ?? ''
  // Null: now. Undefined: as it is scheduled.
  const [entered, setEntered] = useState<string | null | undefined>(undefined)
  const date = entered === undefined ? waiting && localMinute(waiting.at) : entered
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
      <FormAlert error={publish.error} fields={['at']} />
      <Loaded of={asked} whole skeleton={<SkeletonCards cards={2} cols={1} height={140} />}>
        {({ package: p, features }) => {
          if (!p) return null
          if (p.status === 'PUBLISHED' && p.draft === null) {
            return <Text c="dimmed">Nothing to publish: all changes are live.</Text>
          }
          const firstTime = p.status === 'DRAFT'
          const counted = preview.data?.publishPreview
          const empty = (p.draft ?? p).grants.length === 0
          const confirm = () =>
            publish.mutate({
              ...{ appId: app, id, for: reach, note: note.trim() || null, version: p.version },
              at: date === null ? null : isoOfLocal(date),
            })
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
                <Text c="dimmed">No subscribers yet. Users can subscribe once it is published.</Text>
              ) : (
                <>
                  <Radio.Group
                    label="Who gets it?"
                    value={reach}
                    onChange={(value) =>
                      void navigate({
                        to: '/apps/$app/packages/$id/publish',
                        params: { app, id },
                        search: { for: value as Reach },
                        replace: true,
                      })
                    }
                  >
                    <Stack gap="sm" mt="xs">
                      {REACHES.map(({ value, about }) => (
                        <Radio key={value} value={value} label={REACH_LABELS[value]} description={about} />
                      ))}
                    </Stack>
                  </Radio.Group>
                  <Loaded of={preview} skeleton={<SkeletonLines />}>
                    {({ publishPreview }) => publishPreview && <PublishFigures preview={publishPreview} />}
                  </Loaded>
                </>
              )}
              <Radio.Group
                label="When?"
                value={date === null ? 'now' : 'later'}
                onChange={(value) => setEntered(value === 'now' ? null : '')}
              >
                <Group gap="lg" mt="xs">
                  <Radio value="now" label="Now" />
                  <Radio value="later" label="Later" />
                </Group>
              </Radio.Group>
              {date !== null && (
                <TextInput
                  label="Date and time"
                  description={`In your time zone (${timeZone}), by the clock of the app. The package cannot be edited until then`}
                  maw={520}
                  required
                  // Once it is chosen: in sight, above the buttons.
                  autoFocus={date === ''}
                  styles={{ input: { scrollMarginBottom: 96 } }}
                  type="datetime-local"
                  error={fieldErrorOf(publish.error, ['at'])?.at}
                  value={date}
                  onChange={(event) => setEntered(event.currentTarget.value)}
                />
              )}
              <TextInput
                label="Note"
                description="What changes and why; shown in the list of versions"
                maw={520}
                maxLength={1_024}
                value={note}
                onChange={(event) => setNote(event.currentTarget.value)}
              />
              <StickyActions
                about={firstTime ? null : publishSummary(counted, reach, p.grants, (p.draft ?? p).grants)}
              >
                <ButtonLink variant="default" to="/apps/$app/packages/$id" params={{ app, id }}>
                  Cancel
                </ButtonLink>
                <Button
                  onClick={empty ? () => setConfirming(true) : confirm}
                  loading={publish.isPending}
                  // No confirming before the impact is shown.
                  disabled={!may('publishPackage') || (!firstTime && !counted) || date === ''}
                  {...(counted?.lose && { color: 'red.9' })}
                >
                  {publishLabel(counted, date !== null)}
                </Button>
              </StickyActions>
              {!firstTime && counted && <PublishTouched preview={counted} app={app} packageId={id} />}
              <Dialog
                opened={confirming}
                onClose={() => setConfirming(false)}
                title="Publish an empty package?"
              >
                <Stack>
                  <Text size="sm">
                    {firstTime
                      ? `${name} has no features. Its subscribers get no features.`
                      : `This removes every feature from ${name}. Its ${subscribers(counted?.subscribers ?? 0)} lose all of them.`}
                  </Text>
                  <Group justify="flex-end" gap="xs">
                    <Button variant="default" onClick={() => setConfirming(false)} data-autofocus>
                      Cancel
                    </Button>
                    <Button
                      color="red.9"
                      loading={publish.isPending}
                      onClick={() => {
                        setConfirming(false)
                        confirm()
                      }}
                    >
                      Publish anyway
                    </Button>
                  </Group>
                </Stack>
              </Dialog>
            </Stack>
          )
        }}
      </Loaded>
    </Page>
  )
}

function publishLabel(preview: Preview | null | undefined, isLater: boolean): string {
  const verb = isLater ? 'Schedule' : 'Publish'
  return preview?.lose
    ? `${verb}: ${number(preview.lose)} ${preview.lose === 1 ? 'loses' : 'lose'} access`
    : verb
}
