import { Button, Group, Radio, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useContext } from 'react'
import { OVER_ALL_USERS_MS } from '../api/answer-in-time.ts'
import { graphql } from '../api/graphql.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { number } from '../ui/number.ts'
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
  /** newest first */
  versions: readonly { version: number; held: number }[]
  onDone: () => void
}

/** Moves those who have one version to another, after showing what that does to them. */
export function MigrateForm({ appId, packageId, versions, onDone }: MigrateFormProps) {
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
    said: when === 'NOW' ? 'Moved.' : 'Each moves when their period ends.',
    patienceMs: OVER_ALL_USERS_MS,
  })
  const choices = versions.map(({ version, held }) => ({
    value: String(version),
    label: `Version ${version}, held by ${held === 0 ? 'nobody' : number(held)}`,
  }))
  const loses = preview.data?.migrationPreview?.loses ?? 0
  return (
    <Stack>
      <FormAlert error={migrate.error} />
      <Select label="Those who have" data={choices} {...form.getInputProps('from')} allowDeselect={false} />
      <Select label="get" data={choices} {...form.getInputProps('to')} allowDeselect={false} />
      <Radio.Group label="When" {...form.getInputProps('when')}>
        <Stack gap="xs" mt="xs">
          <Radio value="NOW" label="Now" description="All at once." />
          <Radio
            value="PERIOD_END"
            label="When their period ends"
            description="Each at the end of their own."
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
                {number(migrationPreview.subscriptions)} will be moved. {number(migrationPreview.gains)} gain
                access to something, {number(migrationPreview.loses)} lose access.
                {migrationPreview.moreOverage > 0 &&
                  ` ${number(migrationPreview.moreOverage)} go into overage, or further into it.`}
                {migrationPreview.lessOverage > 0 &&
                  ` ${number(migrationPreview.lessOverage)} come out of overage, or have less of it.`}
              </Text>
            )
          }
        </Loaded>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={dialog?.close ?? onDone}>
          Leave them
        </Button>
        <Button
          loading={migrate.isPending}
          disabled={from === to || !preview.data}
          onClick={() => migrate.mutate(move)}
          {...(loses > 0 && { color: 'red.9' })}
        >
          {loses > 0 ? `Move them, though ${number(loses)} lose access` : 'Move them'}
        </Button>
      </Group>
    </Stack>
  )
}
