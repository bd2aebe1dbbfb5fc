import { Alert, Stack, Table, Text } from '@mantine/core'
import { graphql, type ResultOf } from '../api/graphql.ts'
import { limitText } from '../grants.ts'
import { number, units } from '../ui/number.ts'
import { Tag } from '../ui/tag.tsx'
import { dateOf, dateTimeOf } from '../ui/when.tsx'
import { dueText } from './due-text.ts'

export const PREVIEW = graphql(`
  query ChangePreview(
    $appId: String!, $userId: String!, $packageId: String!, $when: ChangeTime, $quantity: Int, $priceId: String
  ) {
    changePreview(
      appId: $appId, userId: $userId, packageId: $packageId, when: $when, quantity: $quantity, priceId: $priceId
    ) {
      at now credit charge currency decimals quotedBy formula
      limits {
        featureId name unitLabel unitLabelPlural usedNow used
        before { budget resetPeriod overageEnabled }
        after { budget resetPeriod overageEnabled }
      }
    }
  }
`)
type Change = NonNullable<ResultOf<typeof PREVIEW>['changePreview']>

/** Shows when a plan change takes effect, the amount due, and each limit before and after. */
export function ChangePreview({ change }: { change: Change }) {
  const due = dueText(change, dateOf(change.at))
  return (
    <Alert
      variant="light"
      title={change.now ? 'Takes effect now' : `Takes effect on ${dateTimeOf(change.at)}`}
    >
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          {due.text}
        </Text>
        {due.isEstimate && (
          <Text size="xs" c="dimmed">
            {change.formula}
          </Text>
        )}
        <Limits limits={change.limits} />
      </Stack>
    </Alert>
  )
}

type LimitChange = Change['limits'][number]

const isChanged = ({ before, after }: LimitChange) => JSON.stringify(before) !== JSON.stringify(after)

/** Whether nothing more can be used after the change. */
const isOver = ({ after, used }: LimitChange) =>
  after !== null &&
  after.budget !== null &&
  !after.overageEnabled &&
  (used ?? 0) >= after.budget &&
  (used ?? 0) > 0

/** Whether the next periods allow less than was used in this one. */
const isTight = (one: LimitChange) =>
  !isOver(one) && isOver({ ...one, used: one.usedNow }) && one.usedNow !== one.after?.budget

/** Current usage, and what of it counts after the change, if that is another number. */
function usageText({ usedNow, used, after, unitLabel, unitLabelPlural }: LimitChange): string {
  const current = `${units(usedNow ?? used ?? 0, unitLabel, unitLabelPlural)} used`
  const isRestarted = after !== null && usedNow !== null && used !== null && used !== usedNow
  return isRestarted ? `${current} now, ${number(used)} at the start of the new plan` : current
}

/** Every feature before and after the change, those that change first. */
function Limits({ limits }: { limits: readonly LimitChange[] }) {
  const ordered = [...limits.filter(isChanged), ...limits.filter((one) => !isChanged(one))]
  if (ordered.length === 0) return <Text size="sm">Neither plan includes a feature.</Text>
  return (
    <Table fz="sm" aria-label="Limits before and after" verticalSpacing={6} horizontalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th fz="xs">Feature</Table.Th>
          <Table.Th fz="xs">Before</Table.Th>
          <Table.Th fz="xs">After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {ordered.map((one) => (
          <Table.Tr key={one.featureId}>
            <Table.Td>
              {one.name}
              {(one.usedNow ?? one.used) !== null && (
                <Text size="xs" c="dimmed">
                  {usageText(one)}
                </Text>
              )}
            </Table.Td>
            <Table.Td>{limitText(one.before, one)}</Table.Td>
            <Table.Td fw={isChanged(one) ? 650 : undefined}>
              {limitText(one.after, one)} {isOver(one) && <Tag tone="warn">Limit reached</Tag>}
              {isTight(one) && <Tag tone="warn">Below current usage</Tag>}
              {one.before !== null && one.after === null && <Tag tone="bad">Loses access</Tag>}
              {one.before === null && one.after !== null && <Tag tone="good">Gains access</Tag>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
