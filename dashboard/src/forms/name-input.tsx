import { TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { idFrom } from './onto-fields.ts'

interface NameInputProps<Values extends { name: string; id: string }> {
  form: UseFormReturnType<Values>
  placeholder: string
  /** false: it already exists, and keeps its id */
  proposesId?: boolean
}

/** A name input that proposes an id until one is entered. */
export function NameInput<Values extends { name: string; id: string }>({
  form,
  placeholder,
  proposesId = true,
}: NameInputProps<Values>) {
  const name = form.getInputProps('name')
  return (
    <TextInput
      label="Name"
      placeholder={placeholder}
      data-autofocus
      {...name}
      onChange={(event) => {
        const id = idFrom(event.currentTarget.value)
        const follows = proposesId && form.values.id === idFrom(form.values.name)
        name.onChange(event)
        if (follows) form.setValues((values) => ({ ...values, id }))
      }}
    />
  )
}
