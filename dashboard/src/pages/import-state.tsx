import { Tag, type Tone } from '../ui/tag.tsx'

type State = 'READING' | 'CHECKED' | 'APPLYING' | 'APPLIED' | 'UNDOING' | 'UNDONE' | 'FAILED'

const STATES: Record<State, { label: string; tone: Tone }> = {
  READING: { label: 'Reading', tone: 'warn' },
  CHECKED: { label: 'Checked, not applied', tone: 'accent' },
  APPLYING: { label: 'Applying', tone: 'warn' },
  APPLIED: { label: 'Applied', tone: 'good' },
  UNDOING: { label: 'Undoing', tone: 'warn' },
  UNDONE: { label: 'Undone', tone: 'plain' },
  FAILED: { label: 'Failed', tone: 'bad' },
}

export const ImportStateTag = ({ state }: { state: State }) => (
  <Tag tone={STATES[state].tone}>{STATES[state].label}</Tag>
)
