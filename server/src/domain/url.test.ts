import { describe, expect, it } from 'vitest'
import { parseUrl } from './url.ts'

describe('gap: URLs', () => {
  it('are read the same however often they are asked about', () => {
    const refused = new Set<number>()
    for (let i = 0; i < 50_000; i++) {
      if (parseUrl('https://bücher.example/straße')?.host !== 'xn--bcher-kva.example') refused.add(i)
    }
    expect(refused.size).toBe(0)
  })

  it('are null where there is none', () => {
    expect(parseUrl('bücher.example')).toBeNull()
    expect(parseUrl('http://')).toBeNull()
  })
})
