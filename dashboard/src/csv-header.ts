const LOOKED_AT = 64 * 1024
const DELIMITERS = [',', ';', '\t', '|']

export interface Header {
  names: string[]
  delimiter: string
}

/** The names of a file's columns, from its first line alone: the file may be large. */
export async function headerOf(file: Blob): Promise<Header> {
  const bytes = new Uint8Array(await file.slice(0, LOOKED_AT).arrayBuffer())
  return parseHeader(decoded(bytes))
}

export function parseHeader(text: string): Header {
  const candidates = DELIMITERS.map((delimiter) => ({ delimiter, names: firstRecord(text, delimiter) }))
  // The delimiter that gives the most columns is most likely the right one.
  const best = candidates.reduce((a, b) => (b.names.length > a.names.length ? b : a))
  return {
    delimiter: best.delimiter,
    names: best.names.map((name) => name.trim()).filter((name) => name !== ''),
  }
}

function decoded(bytes: Uint8Array): string {
  const [a, b] = bytes
  const encoding = a === 0xff && b === 0xfe ? 'utf-16le' : a === 0xfe && b === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

function firstRecord(text: string, delimiter: string): string[] {
  const fields: string[] = []
  let field = ''
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i)
    if (quoted) {
      if (character !== '"') field += character
      else if (text.charAt(i + 1) === '"') field += text.charAt(i++)
      else quoted = false
    } else if (character === '"') quoted = true
    else if (character === delimiter) {
      fields.push(field)
      field = ''
    } else if (character === '\n' || character === '\r') break
    else field += character
  }
  return [...fields, field]
}

/** The most likely column. */
export function guess(names: readonly string[], ...wanted: string[]): string | null {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')
  for (const word of wanted) {
    const found = names.find((name) => plain(name) === word)
    if (found !== undefined) return found
  }
  return null
}
