import { Button, Group, Radio, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useContext } from 'react'
import { OVER_ALL_USERS_MS } from '../api/answer-in-time.ts'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number, units } from '../ui/number.ts'
import { SkeletonLines } from '../ui/skeletons.tsx'
import { DialogContext, useUnsaved } from './unsaved.ts'

const PREVIEW = graphql(`
  query MigrationPreview($appId: String!, $packageId: String!, $from: Int!, $to: Int!, $when: ChangeTime!) {
    migrationPreview(appId: $appId, packageId: $packageId, fromVersion: $from, toVersion: $to, when: $when) {
      subscriptions gains loses moreOverage lessOverage
    }
  }
`)
const MIGRATE = graphql(`
  mutation MigrateSubscriptions($appId: String!, $packageId: String!, $from: Int!, $to: Int!, $when: ChangeTime!) {
    migrateSubscriptions(appId: $appId, packageId: $packageId, fromVersion: $from, toVersion: $to, when: $when) {
      id
    }
  }
`)

interface MigrateFormProps {
  appId: string
  packageId: string
  /** of the package */
  name: string
  /** newest first */
  versions: readonly { version: number; held: number }[]
  onDone: () => void
}

/** Moves those who have one version to another, after showing what that does to them. */
export function MigrateForm({ appId, packageId, name, versions, onDone }: MigrateFormProps) {
  const newest = versions[0]?.version ?? 1
  const held = versions.find(({ version, held }) => version !== newest && held > 0)
  const form = useForm({
    initialValues: {
      from: String(held?.version ?? newest - 1),
      to: String(newest),
      when: 'NOW' as 'NOW' | 'PERIOD_END',
    },
  })
  const { saved } = useUnsaved(form)
  const dialog = useContext(DialogContext)
  const { when } = form.values
  const [from, to] = [Number(form.values.from), Number(form.values.to)]
  const move = { appId, packageId, from, to, when }
  const preview = useAsk(PREVIEW, move, { enabled: from !== to, patienceMs: OVER_ALL_USERS_MS })
  const migrate = useChange(MIGRATE, {
    done: saved(onDone),
    said:
      when === 'NOW'
        ? `Subscribers of ${name} moved from version ${from} to ${to}.`
        : `Subscribers of ${name} move from version ${from} to ${to} at the end of their periods.`,
    patienceMs: OVER_ALL_USERS_MS,
  })
  const choices = versions.map(({ version, held }) => ({
    value: String(version),
    label: `Version ${version} · ${units(held, 'subscriber', 'subscribers')}`,
  }))
  const loses = preview.data?.migrationPreview?.loses ?? 0
  return (
    <Stack>
      <FormAlert error={migrate.error} />
      <Select label="From version" data={choices} {...form.getInputProps('from')} allowDeselect={false} />
      <Select label="To version" data={choices} {...form.getInputProps('to')} allowDeselect={false} />
      <Radio.Group label="When" {...form.getInputProps('when')}>
        <Stack gap="xs" mt="xs">
          <Radio value="NOW" label="Now" description="All subscribers at once" />
          <Radio
            value="PERIOD_END"
            label="At the end of the period"
            description="Each subscriber at the end of their own period"
          />
        </Stack>
      </Radio.Group>
      {from === to ? (
        <Text size="sm">Choose two different versions.</Text>
      ) : (
        <Loaded of={preview} skeleton={<SkeletonLines />}>
          {({ migrationPreview }) =>
            migrationPreview && (
              <Text size="sm">
                {units(migrationPreview.subscriptions, 'subscriber moves', 'subscribers move')}.{' '}
                {number(migrationPreview.gains)} gain access to a feature, {number(migrationPreview.loses)}{' '}
                lose access.
                {migrationPreview.moreOverage > 0 &&
                  ` ${number(migrationPreview.moreOverage)} have more overage.`}
                {migrationPreview.lessOverage > 0 &&
                  ` ${number(migrationPreview.lessOverage)} have less overage.`}
              </Text>
            )
          }
        </Loaded>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={dialog?.close ?? onDone}>
          Cancel
        </Button>
        <Button
          loading={migrate.isPending}
          disabled={from === to || !preview.data}
          onClick={() => migrate.mutate(move)}
          {...(loses > 0 && { color: 'red.9' })}
        >
          {moveText(preview.data?.migrationPreview?.subscriptions, loses)}
        </Button>
      </Group>
    </Stack>
  )
}

/** "Move 2 subscribers", "Move 2 subscribers, 1 loses access" */
function moveText(count: number | undefined, loses: number): string {
  const what = count === undefined ? 'Move subscribers' : `Move ${units(count, 'subscriber', 'subscribers')}`
  return loses === 0 ? what : `${what}, ${units(loses, 'loses', 'lose')} access`
}
