import type { Change } from './mutant.ts'

/** Also a part of a statement, such as one that begins with `and`; prose has no comparisons. */
export const isSql = (code: string): boolean =>
  /\b(select|insert into|update|delete from|where|and)\b/.test(code) && /[=<>]|\bis (not )?null\b/.test(code)

/** Where a predicate ends that no bracket closes before. */
const ENDS = /^(and|or|order by|group by|limit|returning|union|for|on conflict|then|else|end|from)\b/i

const SWAPPED: [RegExp, string][] = [
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/\bis null\b/g, 'is not null'],
  [/\bis not null\b/g, 'is null'],
  [/\bleast\(/g, 'greatest('],
  [/\bgreatest\(/g, 'least('],
  [/ desc\b/g, ' asc'],
]

/**
 * Changes of a statement in the quotes it has in the source. A predicate is made true and kept in its place, so that
 * PostgreSQL still knows the type of each parameter: a statement that does not parse would show nothing.
 */
export function sqlChanges(quoted: string): Change[] {
  const changes: Change[] = []
  for (const found of quoted.matchAll(/\b(where|and|on|when)\s+/gi)) {
    const start = found.index + found[0].length
    const end = endOfPredicate(quoted, start)
    const predicate = quoted.slice(start, end).trimEnd()
    const before = quoted.slice(0, found.index)
    if (predicate === '' || /^(conflict|case)\b/i.test(predicate) || /\bbetween\s+\S+\s+$/i.test(before))
      continue
    // What is filled in has changes of its own.
    if (insideSubstitution(quoted, found.index)) continue
    changes.push({ start, end: start + predicate.length, becomes: `(${predicate} or true)` })
  }
  for (const [pattern, becomes] of SWAPPED) {
    for (const found of quoted.matchAll(pattern)) {
      if (becomes === ' desc' || insideSubstitution(quoted, found.index)) continue
      changes.push({ start: found.index, end: found.index + found[0].length, becomes })
    }
  }
  return changes
}

/** `${…}` and brackets are passed over as a whole. */
function endOfPredicate(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length - 1; at++) {
    const here = text[at] ?? ''
    if ('({'.includes(here)) depth += 1
    if (')}'.includes(here)) depth -= 1
    if (depth < 0) return at
    if (depth === 0 && /\s/.test(here) && ENDS.test(text.slice(at + 1))) return at
  }
  return text.length - 1
}

function insideSubstitution(text: string, at: number): boolean {
  let depth = 0
  for (let i = 0; i < at; i++) {
    if (text.startsWith('${', i) || (depth > 0 && text[i] === '{')) {
      depth += 1
      if (text[i] === '$') i += 1
    } else if (depth > 0 && text[i] === '}') depth -= 1
  }
  return depth > 0
}
