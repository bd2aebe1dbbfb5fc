import { NumberInput, type NumberInputProps } from '@mantine/core'

/** A whole number of units, from 0. */
export function UnitsInput(props: NumberInputProps) {
  return (
    <NumberInput
      min={0}
      max={Number.MAX_SAFE_INTEGER}
      allowDecimal={false}
      allowNegative={false}
      thousandSeparator=","
      {...props}
    />
  )
}
