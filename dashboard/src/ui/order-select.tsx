import { Select } from '@mantine/core'

interface OrderSelectProps<Order extends string> {
  /** what it is without a choice */
  usual: string
  others: Record<Order, string>
  /** undefined: the usual one */
  value: Order | undefined
  onChange: (order: Order | undefined) => void
}

/** The order of a list. */
export function OrderSelect<Order extends string>({
  usual,
  others,
  value,
  onChange,
}: OrderSelectProps<Order>) {
  return (
    <Select
      aria-label="Order"
      w={170}
      allowDeselect={false}
      data={[
        { value: 'usual', label: usual },
        ...Object.entries<string>(others).map(([value, label]) => ({ value, label })),
      ]}
      value={value ?? 'usual'}
      onChange={(order) => onChange(order === null || order === 'usual' ? undefined : (order as Order))}
    />
  )
}
