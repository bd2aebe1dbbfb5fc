import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { numberArray, textArray } from '../../src/store/connection/arrays.ts'

let client: pg.Client
beforeAll(async () => {
  client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
})
afterAll(() => client.end())

it('any text comes back from PostgreSQL as it was', async () => {
  const text = fc
    .string({ unit: 'grapheme' })
    .map((s) => s.replaceAll('\u0000', ''))
    .filter((s) => s.isWellFormed())
  const special = fc.constantFrom('', 'null', 'NULL', '{}', '"', '\\', ',', ' a ', '\\"', '\n', "'")
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(fc.oneof(text, special))), async (texts) => {
      const { rows } = await client.query('select $1::text[] as texts', [textArray(texts, (t) => t)])
      expect(rows[0].texts).toEqual(texts)
    }),
  )
})

it('any count comes back from PostgreSQL as it was', async () => {
  const count = fc.option(fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }))
  await fc.assert(
    fc.asyncProperty(fc.array(count), async (counts) => {
      const { rows } = await client.query('select $1::bigint[]::text[] as counts', [
        numberArray(counts, (n) => n),
      ])
      expect(rows[0].counts).toEqual(counts.map((n) => (n === null ? null : String(n))))
    }),
  )
})
