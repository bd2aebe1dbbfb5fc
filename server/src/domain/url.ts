/**
 * Parses a URL, or returns null. `URL.canParse` is not used: once optimized, Node 20 returns false for every URL with a
 * letter between U+0080 and U+00FF, such as https://bücher.example.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
