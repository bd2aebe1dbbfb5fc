import { TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { idFrom } from './onto-fields.ts'

interface NameInputProps<Values extends { name: string; id: string }> {
  form: UseFormReturnType<Values>
  placeholder: string
  /** false: the thing is there already, and keeps its id */
  proposesId?: boolean
}

/** The name of something, which proposes an id as long as nobody has written another. */
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
