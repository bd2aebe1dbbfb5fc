import { Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { graphql } from '../api/graphql.ts'
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

/** Moves the end of a trial. */
export function ExtendTrial({
  opened,
  onClose,
  ...props
}: ExtendTrialProps & { opened: boolean; onClose: () => void }) {
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={`Extend the trial of ${props.subscription.package.name}`}
      ta="left"
    >
      <ExtendForm {...props} onDone={onClose} />
    </FormDialog>
  )
}

function ExtendForm({ appId, subscription, endsAt, onDone }: ExtendTrialProps & { onDone: () => void }) {
  const form = useForm({ initialValues: { until: '' }, validate: { until: required('The new end') } })
  const { saved } = useUnsaved(form)
  const extend = useChange(EXTEND, {
    done: saved(onDone),
    said: ({ extendTrial }) =>
      `Trial of ${subscription.package.name} extended to ${dateOf(extendTrial?.trialEndsAt ?? '')}.`,
  })
  const save = form.onSubmit(({ until }) =>
    extend.mutate({ appId, id: subscription.id, until: isoOfLocal(until) }, ontoFields(form)),
  )
  return (
    <form noValidate onSubmit={save}>
      <Stack>
        <FormAlert error={extend.error} fields={fieldsOf(form)} />
        <Text size="sm">
          It ends on <When at={endsAt} time />. A scheduled plan starts at the new end.
        </Text>
        <TextInput label="New end" type="date" data-autofocus {...form.getInputProps('until')} />
        <FormActions submit="Extend trial" busy={extend.isPending} onCancel={onDone} />
      </Stack>
    </form>
  )
}
