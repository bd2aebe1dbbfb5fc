import { Radio, Select, Stack, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { SCOPES, type Scope } from '../key-scopes.ts'
import { isoOfLocal, localMinute, timeZone } from './local-time.ts'
import { required } from './onto-fields.ts'

const DAY_MS = 86_400_000

const EXPIRIES = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'At a time of your choice' },
]

interface KeyValues {
  name: string
  scope: Scope
  /** one of EXPIRIES */
  expiry: string
  /** local, for the choice `date` */
  expiresAt: string
}

interface Key {
  name: string
  scope: Scope
  expiresAt: string | null
}

export const NEW_KEY: Key = { name: '', scope: 'ALL', expiresAt: null }

export const keyForm = ({ name, scope, expiresAt }: Key) => ({
  initialValues: {
    name,
    scope,
    expiry: expiresAt === null ? 'never' : 'date',
    expiresAt: expiresAt === null ? '' : localMinute(expiresAt),
  } satisfies KeyValues,
  validate: {
    name: required('The name'),
    expiresAt: (expiresAt: string, { expiry }: KeyValues) =>
      expiry === 'date' && expiresAt === '' ? 'The time is missing.' : null,
  },
})

/** What the fields say; `before` is the expiry that they were filled with. */
export function keyInput({ name, scope, expiry, expiresAt }: KeyValues, before: string | null): Key {
  if (expiry === 'never') return { name, scope, expiresAt: null }
  if (expiry !== 'date')
    return { name, scope, expiresAt: new Date(Date.now() + Number(expiry) * DAY_MS).toISOString() }
  // The input has minutes: a time that was not touched keeps its seconds.
  const untouched = before !== null && localMinute(before) === expiresAt
  return { name, scope, expiresAt: untouched ? before : isoOfLocal(expiresAt) }
}

/** Name, scope and expiry of an API key. */
export function KeyFields({ form }: { form: UseFormReturnType<KeyValues> }) {
  return (
    <>
      <TextInput
        label="Name"
        description="Where the key is used, so you know what stops when you revoke it"
        placeholder="Production backend"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Radio.Group
        label="Scope"
        description="Choose the narrowest that works. A stolen key can do no more than this"
        {...form.getInputProps('scope')}
      >
        <Stack gap="xs" mt="xs">
          {SCOPES.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} />
          ))}
        </Stack>
      </Radio.Group>
      <Select
        label="Expires"
        description={
          form.values.expiry === 'never'
            ? 'The key works until it is revoked'
            : 'Requests with the key fail after this time'
        }
        allowDeselect={false}
        data={EXPIRIES}
        {...form.getInputProps('expiry')}
      />
      {form.values.expiry === 'date' && (
        <TextInput
          label="Until"
          description={`In your time zone (${timeZone})`}
          type="datetime-local"
          {...form.getInputProps('expiresAt')}
        />
      )}
    </>
  )
}
