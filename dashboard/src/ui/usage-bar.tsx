import { Group, Text } from '@mantine/core'
import { number, type UnitLabels, units } from './number.ts'
import classes from './usage-bar.module.css'

interface UsageBarProps {
  label: string
  used: number
  /** null: unlimited */
  budget: number | null
  overageEnabled: boolean
  labels?: UnitLabels | undefined
}

const CLOSE = 0.8

/** How much of a budget is used up. */
export function UsageBar({ label, used, budget, overageEnabled, labels }: UsageBarProps) {
  const part = budget === null ? 0 : budget === 0 ? 1 : used / budget
  const tone = part >= 1 ? (overageEnabled ? 'warn' : 'bad') : part >= CLOSE ? 'warn' : 'plain'
  const amount = (value: number) => units(value, labels?.unitLabel, labels?.unitLabelPlural)
  const text = budget === null ? `${amount(used)}, unlimited` : `${number(used)} of ${amount(budget)}`
  return (
    <div>
      <Group justify="space-between" gap="xs" mb="xxs">
        <Text size="sm" className="numbers">
          {text}
        </Text>
        <Text size="xs" c="dimmed" className="numbers">
          {budget === null ? '' : `${Math.floor(part * 100)}%`}
        </Text>
      </Group>
      {/* biome-ignore lint/a11y/useSemanticElements: a <meter> cannot be given these looks in all browsers */}
      <div
        className={classes.track}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={budget ?? Math.max(used, 1)}
        aria-valuenow={Math.min(used, budget ?? Math.max(used, 1))}
        aria-valuetext={text}
      >
        <div className={classes.fill} data-tone={tone} style={{ width: `${Math.min(part, 1) * 100}%` }} />
      </div>
    </div>
  )
}
