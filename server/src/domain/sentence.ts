/** Kinds of objects that a sentence can link to. */
export const SUBJECT_KINDS = [
  'USER',
  'FEATURE',
  'PACKAGE',
  'TEMPLATE',
  'APP',
  'MEMBER',
  'API_KEY',
  'IMPORT',
] as const

/** An existing object that can be linked to. */
export interface Subject {
  kind: (typeof SUBJECT_KINDS)[number]
  /** null: not part of an app */
  appId: string | null
  /** for a member, the email address */
  id: string
}

export interface SentencePart {
  text: string
  /** linked object; null: none, or it no longer exists */
  subject: Subject | null
  /** the time shown in the text, for readers in other time zones */
  at: number | null
}

/** A sentence whose names may be links. */
export type Sentence = readonly SentencePart[]

type Piece = string | number | SentencePart | Sentence

/** Builds a sentence: say`${user} subscribed to ${plan}`. */
export function say(texts: TemplateStringsArray, ...pieces: Piece[]): Sentence {
  return merged(texts.flatMap((text, i) => [plain(text), ...partsOf(pieces[i] ?? '')]))
}

/** Joins sentences and pieces with `between`. */
export const joined = (pieces: readonly Piece[], between: string): Sentence =>
  merged(pieces.flatMap((piece, i) => (i === 0 ? partsOf(piece) : [plain(between), ...partsOf(piece)])))

export const textOf = (sentence: Sentence): string => sentence.map(({ text }) => text).join('')

const plain = (text: string): SentencePart => ({ text, subject: null, at: null })

/** A name that links to its object if that exists. */
export const named = (text: string, subject: Subject | null): SentencePart => ({ text, subject, at: null })

/** To the minute, in readable form. */
export const time = (at: number): SentencePart => ({
  text: `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  subject: null,
  at,
})

const NUMBER = new Intl.NumberFormat('en')
export const number = (value: number | string): string => NUMBER.format(Number(value))

/**
 * "1 call", "2,000 calls"; without a plural label, "2,000 × call": plurals cannot be guessed in every language. Without
 * labels, the number alone. The dashboard has the same rule in `ui/number.ts`.
 */
export function units(
  value: number,
  labels: { unitLabel: string | null; unitLabelPlural: string | null } | undefined,
): string {
  const { unitLabel, unitLabelPlural } = labels ?? {}
  const [own, other] = value === 1 ? [unitLabel, unitLabelPlural] : [unitLabelPlural, unitLabel]
  const word = own || (other && `× ${other}`)
  return word ? `${number(value)} ${word}` : number(value)
}

function partsOf(piece: Piece): Sentence {
  if (typeof piece === 'string') return [plain(piece)]
  if (typeof piece === 'number') return [plain(number(piece))]
  return 'text' in piece ? [piece] : piece
}

/** Adjacent plain texts become one part. */
function merged(parts: Sentence): Sentence {
  const result: SentencePart[] = []
  for (const part of parts) {
    if (part.text === '') continue
    const last = result.at(-1)
    if (last && isPlain(last) && isPlain(part)) last.text += part.text
    else result.push({ ...part })
  }
  return result
}

const isPlain = ({ subject, at }: SentencePart): boolean => subject === null && at === null
