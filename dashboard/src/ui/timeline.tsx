import { Text } from '@mantine/core'
import { Name, Sentence, type SentencePart } from './sentence.tsx'
import classes from './timeline.module.css'
import { When } from './when.tsx'

interface Line {
  at: string
  kind: string
  parts: readonly SentencePart[]
  by: SentencePart | null
}

const TONES: Record<string, string> = {
  STARTED: 'good',
  PAID: 'good',
  FAILED: 'bad',
  DISPUTED: 'bad',
  CANCELLED: 'bad',
  REFUNDED: 'warn',
  SCHEDULED: 'accent',
}

/** Past events, newest first, with scheduled events above them. */
export function Timeline({ lines }: { lines: readonly Line[] }) {
  const now = Date.now()
  return (
    <ol className={classes.timeline}>
      {lines.map((line, index) => (
        <li key={index} className={classes.line} data-tone={TONES[line.kind] ?? 'plain'}>
          <Text size="sm" className="break">
            <Sentence parts={line.parts} />
            {line.by && (
              <Text span size="sm" c="dimmed">
                {' '}
                by <Name {...line.by} />
              </Text>
            )}
          </Text>
          <Text size="xs" c="dimmed">
            <When at={line.at} time />
            {line.kind === 'SCHEDULED' && Date.parse(line.at) > now && ' · scheduled'}
          </Text>
        </li>
      ))}
    </ol>
  )
}
