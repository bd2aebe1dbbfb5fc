import { Button, FileInput, Group, Radio, Select, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconFileTypeCsv } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import { type Columns, uploadUsers } from '../api/upload-users.ts'
import { useMay } from '../api/use-account.ts'
import { useWhereabouts } from '../api/use-api.ts'
import { guess, type Header, headerOf } from '../csv-header.ts'
import { FormAlert } from '../ui/form-alert.tsx'
import { Note } from '../ui/note.tsx'
import { notifyFailed } from '../ui/notify.tsx'
import { useUnsaved } from './unsaved.ts'

interface ImportFormProps {
  appId: string
  /** Called as soon as the upload starts: its progress can be queried from then on. */
  onStarted: (importId: string) => void
  /** Called when the whole file was refused. */
  onRefused: () => void
}

/** Upload and column mapping, up to the dry run. */
export function ImportForm({ appId, onStarted, onRefused }: ImportFormProps) {
  const may = useMay()
  const [header, setHeader] = useState<Header | null>(null)
  const form = useForm({
    initialValues: {
      file: null as File | null,
      id: null as string | null,
      email: null as string | null,
      billingId: null as string | null,
      name: null as string | null,
      plan: null as string | null,
      metadata: null as string | null,
      unknown: 'create' as 'create' | 'refuse',
      empty: 'keep' as 'keep' | 'clear',
    },
    validate: {
      file: (file) => (file === null ? 'Choose a file.' : null),
      id: (id) => (id === null ? 'Choose the column with the user ids.' : null),
      email: (email, { billingId, name, metadata, unknown }) =>
        unknown === 'refuse' && [email, billingId, name, metadata].every((column) => column === null)
          ? 'Choose at least one column to update.'
          : null,
    },
  })
  const upload = useMutation({
    mutationFn: uploadUsers,
    onMutate: useWhereabouts(),
    onError(error, _, whereabouts) {
      if (whereabouts?.samePage()) onRefused()
      else notifyFailed(messageOf(error))
    },
  })
  useUnsaved(form)
  const take = async (file: File | null) => {
    form.setFieldValue('file', file)
    const found = file ? await headerOf(file) : null
    setHeader(found)
    form.setFieldValue('id', guess(found?.names ?? [], 'id', 'userid', 'user'))
    form.setFieldValue('email', guess(found?.names ?? [], 'email', 'mail', 'emailaddress'))
    form.setFieldValue(
      'billingId',
      guess(found?.names ?? [], 'billingid', 'customerid', 'customer', 'stripeid'),
    )
    form.setFieldValue('name', guess(found?.names ?? [], 'name', 'fullname', 'displayname'))
    form.setFieldValue('plan', guess(found?.names ?? [], 'plan', 'planid', 'package', 'packageid'))
    form.setFieldValue('metadata', guess(found?.names ?? [], 'metadata'))
  }
  const start = form.onSubmit(({ file, id, unknown, empty, ...columns }) => {
    if (!file || id === null) return
    const importId = crypto.randomUUID()
    const delimiter = header?.delimiter ?? ','
    upload.mutate({
      appId,
      importId,
      file,
      columns: { id, ...columns },
      create: unknown === 'create',
      empty,
      delimiter,
    })
    // The file is on its way: nothing is lost by leaving.
    form.resetDirty()
    onStarted(importId)
  })
  const column = (name: keyof Columns, label: string, clearable: boolean) => (
    <Select
      label={label}
      placeholder="Choose a column"
      data={[...new Set(header?.names ?? [])]}
      clearable={clearable}
      allowDeselect={clearable}
      w={220}
      {...form.getInputProps(name)}
    />
  )
  return (
    <form noValidate onSubmit={start}>
      <Stack maw={760}>
        <FormAlert error={upload.error} />
        <FileInput
          label="CSV file"
          description="Columns separated by commas, semicolons, tabs or |. UTF-8 or UTF-16, up to 1,000,000 rows"
          placeholder="Choose a file"
          accept=".csv,.tsv,.txt,text/csv"
          leftSection={<IconFileTypeCsv size={18} aria-hidden />}
          clearable
          maw={440}
          {...form.getInputProps('file')}
          onChange={(file) => void take(file)}
        />
        {header !== null && (
          <>
            <Text fw={600} size="sm">
              Columns
            </Text>
            <Group align="flex-start">
              {column('id', 'User id', false)}
              {column('email', 'Email', true)}
              {column('billingId', 'Billing id', true)}
              {column('name', 'Name', true)}
              {column('plan', 'Plan of new users', true)}
              {column('metadata', 'Metadata (JSON)', true)}
            </Group>
            <Radio.Group label="Unknown user ids" {...form.getInputProps('unknown')}>
              <Group mt="xs">
                <Radio value="create" label="create users" />
                <Radio value="refuse" label="report as invalid" />
              </Group>
            </Radio.Group>
            <Radio.Group label="Empty cells" {...form.getInputProps('empty')}>
              <Group mt="xs">
                <Radio value="keep" label="keep the current value" />
                <Radio value="clear" label="clear the value" />
              </Group>
            </Radio.Group>
          </>
        )}
        <Note tone="accent">
          The file is checked first: you see every new user, every change and every invalid row. Nothing is
          written until you apply the import, and you can undo it afterwards.
        </Note>
        <div>
          <Button type="submit" disabled={!may('applyUserImport')}>
            Check the file
          </Button>
        </div>
      </Stack>
    </form>
  )
}
