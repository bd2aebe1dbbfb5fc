import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useChange } from '../api/use-api.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { dateOf, When } from '../ui/when.tsx'
import { FormActions } from './form-actions.tsx'
import { FormDialog } from './form-dialog.tsx'
import { isoOfLocal } from './local-time.ts'
import { fieldsOf, ontoFields, required } from './onto-fields.ts'
import { useUnsaved } from './unsaved.ts'

const EXTEND = graphql(`
  mutation ExtendTrial($appId: String!, $id: String!, $until: String!) {
    extendTrial(appId: $appId, id: $id, until: $until) { id trialEndsAt }
  }
`)

interface ExtendTrialProps {
  appId: string
  subscription: { id: string; userId: string; package: { name: string } }
  endsAt: string
}

/** Lets a trial last longer. */
export function ExtendTrial(props: ExtendTrialProps) {
  const [opened, { open, close }] = useDisclosure()
  const may = useMay()
  const { userId, package: p } = props.subscription
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={open}
        disabled={!may('extendTrial')}
        aria-label={`Extend the trial of ${p.name} of ${userId}`}
      >
        Extend
      </Button>
      <FormDialog opened={opened} onClose={close} title={`Extend the trial of ${p.name}`} ta="left">
        <ExtendForm {...props} onDone={close} />
      </FormDialog>
    </>
  )
}

function ExtendForm({ appId, subscription, endsAt, onDone }: ExtendTrialProps & { onDone: () => void }) {
  const form = useForm({ initialValues: { until: '' }, validate: { until: required('The new end') } })
  const { saved } = useUnsaved(form)
  const extend = useChange(EXTEND, {
    done: saved(onDone),
    said: ({ extendTrial }) => `The trial lasts until ${dateOf(extendTrial?.trialEndsAt ?? '')}.`,
  })
  const save = form.onSubmit(({ until }) =>
    extend.mutate({ appId, id: subscription.id, until: isoOfLocal(until) }, ontoFields(form)),
  )
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={extend.error} fields={fieldsOf(form)} />
        <Text size="sm">
          It ends on <When at={endsAt} time />. What follows it waits until the new end.
        </Text>
        <TextInput label="New end" type="date" data-autofocus {...form.getInputProps('until')} />
        <FormActions submit="Extend the trial" busy={extend.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
