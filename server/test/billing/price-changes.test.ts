import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PriceChange, PriceChangeTime } from '../../src/billing/provider.ts'
import { pick, seeded } from '../stripe/random.ts'
import { type ChangingShop, type KeptInvoice, sandboxShop, stripeShop } from './changing-shops.ts'

// A change of price, asked of the provider's interface: what it says beforehand is what it then charges.

const DAY = 86_400

/** Each takes two dozen statements, or half a dozen requests. */
const CHANGES = Number(process.env.TOLLGATE_CHANGES ?? 60)

describe.each([
  ['the sandbox', sandboxShop],
  ['Stripe’s stand-in', stripeShop],
])('gap: billing, changes of price by %s', (_, open) => {
  let shop: ChangingShop
  beforeAll(async () => {
    shop = await open()
  })
  afterAll(() => shop.close())

  const state = async (ref: string) => {
    const found = await shop.provider.fetchSubscription(ref)
    if (!found) throw new Error(`${ref} is gone`)
    return found
  }
  const preview = (ref: string, change: PriceChange, when: PriceChangeTime) =>
    shop.provider.previewChange(ref, change, when)
  const change = (ref: string, wanted: PriceChange, when: PriceChangeTime) =>
    shop.provider.changePrice(ref, wanted, when)
  const charged = ({ lines }: KeptInvoice) => ({
    credit: -lines.reduce((sum, { amount }) => sum + Math.min(amount, 0), 0) + 0,
    charge: lines.reduce((sum, { amount }) => sum + Math.max(amount, 0), 0),
  })
  /** A monthly subscription to one of `from`, and another price. */
  const subscribed = async (from: number, to: number, card?: 'declines') => {
    const [one, other] = [await shop.price(from, 'month'), await shop.price(to, 'month')]
    const ref = await shop.subscribe([{ priceId: one, quantity: 1 }], card)
    return { ref, one, other, dearer: { from: one, to: other, quantity: 1 } }
  }

  it('now: the unused part is given back and the rest of the period charged, and the period stays', async () => {
    const { ref, other, dearer } = await subscribed(3_100, 6_200)
    const before = await state(ref)
    const left = Number(before.paidUntil) - (await shop.now())
    await shop.advance(left / 1000 / 4)
    const kept = (await shop.invoices(ref)).length
    expect(await preview(ref, dearer, 'now')).toEqual({ credit: 2_325, charge: 4_650, currency: 'usd' })
    await change(ref, dearer, 'now')
    expect(await state(ref)).toMatchObject({
      items: [{ priceId: other, quantity: 1 }],
      scheduled: null,
      anchor: before.anchor,
      paidUntil: before.paidUntil,
    })
    const made = (await shop.invoices(ref)).slice(kept)
    expect(made.map(({ due, paid }) => [due, paid])).toEqual([[2_325, true]])
    await change(ref, dearer, 'now')
    expect(await shop.invoices(ref)).toHaveLength(kept + 1)
  })

  it('now: another interval starts a period of its own, charged in full', async () => {
    const monthly = await shop.price(1_000, 'month')
    const yearly = await shop.price(9_000, 'year')
    const ref = await shop.subscribe([{ priceId: monthly, quantity: 2 }])
    const { paidUntil } = await state(ref)
    const now = await shop.now()
    await shop.advance((Number(paidUntil) - now) / 2000)
    const wanted = { from: monthly, to: yearly, quantity: 2 }
    expect(await preview(ref, wanted, 'now')).toEqual({ credit: 1_000, charge: 18_000, currency: 'usd' })
    await change(ref, wanted, 'now')
    const after = await state(ref)
    expect(after.anchor).toBe(await shop.now())
    expect(Number(after.paidUntil) - after.anchor).toBe(365 * DAY * 1000)
    expect(charged((await shop.invoices(ref)).at(-1) as KeptInvoice)).toEqual({
      credit: 1_000,
      charge: 18_000,
    })
  })

  it('now: what is given back beyond what is charged comes off the next invoice', async () => {
    const { ref, dearer } = await subscribed(6_000, 1_000)
    await change(ref, dearer, 'now')
    expect((await shop.invoices(ref)).at(-1)).toMatchObject({ due: 0, paid: true })
    await shop.advance(32 * DAY)
    await shop.advance(28 * DAY)
    const [, second, third] = (await shop.invoices(ref)).slice(-3).map(({ due }) => due)
    expect([second, third]).toEqual([0, 0])
  })

  it('at the period’s end: nothing is charged until then, and then the new price', async () => {
    const { ref, one, other } = await subscribed(6_000, 1_500)
    const { paidUntil } = await state(ref)
    const wanted = { from: one, to: other, quantity: 3 }
    const kept = (await shop.invoices(ref)).length
    expect(await preview(ref, wanted, 'period end')).toEqual({ credit: 0, charge: 4_500, currency: 'usd' })
    await change(ref, wanted, 'period end')
    await change(ref, wanted, 'period end')
    expect(await state(ref)).toMatchObject({
      items: [{ priceId: one, quantity: 1 }],
      scheduled: { at: paidUntil, items: [{ priceId: other, quantity: 3 }] },
    })
    await shop.advance((Number(paidUntil) - (await shop.now())) / 1000 - 1)
    expect((await state(ref)).items).toEqual([{ priceId: one, quantity: 1 }])
    expect(await shop.invoices(ref)).toHaveLength(kept)
    await shop.advance(1)
    expect(await state(ref)).toMatchObject({ items: [{ priceId: other, quantity: 3 }], scheduled: null })
    expect((await shop.invoices(ref)).slice(kept).map(({ due }) => due)).toEqual([4_500])
    await shop.advance(32 * DAY)
    expect((await shop.invoices(ref)).slice(kept).map(({ due }) => due)).toEqual([4_500, 4_500])
  })

  it('at the period’s end: another interval counts from there', async () => {
    const monthly = await shop.price(1_000, 'month')
    const yearly = await shop.price(9_000, 'year')
    const ref = await shop.subscribe([{ priceId: monthly, quantity: 1 }])
    const { paidUntil } = await state(ref)
    await change(ref, { from: monthly, to: yearly, quantity: 1 }, 'period end')
    await shop.advance((Number(paidUntil) - (await shop.now())) / 1000 + 60)
    const after = await state(ref)
    expect([after.anchor, after.items]).toEqual([paidUntil, [{ priceId: yearly, quantity: 1 }]])
    expect(Number(after.paidUntil)).toBe(Number(paidUntil) + 365 * DAY * 1000)
    expect((await shop.invoices(ref)).at(-1)).toMatchObject({ due: 9_000, paid: true })
  })

  it('a second change at the period’s end replaces the first, one back to what it is takes it back', async () => {
    const { ref, one, other } = await subscribed(6_000, 1_500)
    const third = await shop.price(700, 'month')
    await change(ref, { from: one, to: other, quantity: 1 }, 'period end')
    await change(ref, { from: one, to: third, quantity: 1 }, 'period end')
    expect((await state(ref)).scheduled?.items).toEqual([{ priceId: third, quantity: 1 }])
    await change(ref, { from: one, to: one, quantity: 1 }, 'period end')
    expect(await state(ref)).toMatchObject({ scheduled: null, items: [{ priceId: one }] })
    await shop.advance(32 * DAY)
    expect((await state(ref)).items).toEqual([{ priceId: one, quantity: 1 }])
  })

  it('a change now ends a scheduled one, and a change that is taken back never happens', async () => {
    const { ref, one, other } = await subscribed(1_000, 1_500)
    const third = await shop.price(700, 'month')
    await change(ref, { from: one, to: third, quantity: 1 }, 'period end')
    await change(ref, { from: one, to: other, quantity: 1 }, 'now')
    expect(await state(ref)).toMatchObject({ items: [{ priceId: other }], scheduled: null })
    await change(ref, { from: other, to: third, quantity: 1 }, 'period end')
    await shop.provider.dropScheduledChange(ref)
    await shop.provider.dropScheduledChange(ref)
    expect((await state(ref)).scheduled).toBeNull()
    await shop.advance(32 * DAY)
    expect((await state(ref)).items).toEqual([{ priceId: other, quantity: 1 }])
  })

  it('what has a scheduled change can be cancelled and kept', async () => {
    const { ref, one, other } = await subscribed(6_000, 1_500)
    const wanted = { from: one, to: other, quantity: 1 }
    await change(ref, wanted, 'period end')
    await shop.provider.keep(ref)
    expect((await state(ref)).scheduled).not.toBeNull()
    await shop.provider.cancel(ref, 'period end')
    const ending = await state(ref)
    expect(ending).toMatchObject({ scheduled: null, cancelAt: ending.paidUntil })
    await shop.provider.keep(ref)
    expect(await state(ref)).toMatchObject({ scheduled: null, cancelAt: null })
    await shop.provider.cancel(ref, 'period end')
    await change(ref, wanted, 'period end')
    expect(await state(ref)).toMatchObject({ cancelAt: null, scheduled: { items: [{ priceId: other }] } })
    await shop.provider.cancel(ref, 'now')
    expect(await state(ref)).toMatchObject({ billingStatus: 'ended', scheduled: null })
    await expect(change(ref, wanted, 'now')).rejects.toMatchObject({ kind: 'refused' })
  })

  it('an add-on that comes or goes stays so after a scheduled change', async () => {
    const { ref, one, other } = await subscribed(6_000, 1_500)
    const [extra, more] = [await shop.price(100, 'month'), await shop.price(200, 'month')]
    await shop.provider.addPrice(ref, extra, 1)
    await change(ref, { from: one, to: other, quantity: 1 }, 'period end')
    await shop.provider.addPrice(ref, more, 1)
    await shop.provider.dropPrice(ref, extra)
    const items = async () =>
      (await state(ref)).items.map(({ priceId, quantity }) => `${quantity} ${priceId}`).toSorted()
    expect(await items()).toEqual([`1 ${one}`, `1 ${more}`].toSorted())
    await shop.advance(32 * DAY)
    expect(await items()).toEqual([`1 ${other}`, `1 ${more}`].toSorted())
  })

  it('a card that is declined changes nothing, and what was scheduled stays so', async () => {
    const { ref, one, other } = await subscribed(1_000, 1_500, 'declines')
    const cheaper = await shop.price(700, 'month')
    await change(ref, { from: one, to: cheaper, quantity: 1 }, 'period end')
    const kept = await shop.invoices(ref)
    await expect(change(ref, { from: one, to: other, quantity: 1 }, 'now')).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/declined/),
    })
    expect(await state(ref)).toMatchObject({
      items: [{ priceId: one }],
      scheduled: { items: [{ priceId: cheaper }] },
    })
    expect(await shop.invoices(ref)).toEqual(kept)
    await shop.advance(32 * DAY)
    expect((await state(ref)).billingStatus).toBe('past due')
    const dear = { from: cheaper, to: other, quantity: 1 }
    await expect(change(ref, dear, 'now')).rejects.toMatchObject({ message: expect.stringMatching(/due/) })
    await expect(preview(ref, dear, 'now')).rejects.toMatchObject({ message: expect.stringMatching(/due/) })
    // What comes next is not charged before.
    await change(ref, dear, 'period end')
    expect((await state(ref)).scheduled).toMatchObject({ items: [{ priceId: other }] })
  })

  it('by the clock: a scheduled change whose time has come counts, even where the renewal is late', async () => {
    const { ref, one, other } = await subscribed(6_000, 1_500)
    await change(ref, { from: one, to: other, quantity: 1 }, 'period end')
    const { paidUntil } = await state(ref)
    await shop.advance(32 * DAY, 'late')
    const late = await state(ref)
    const made = late.scheduled === null ? late.items : late.scheduled.items
    expect(made).toEqual([{ priceId: other, quantity: 1 }])
    expect(late.scheduled === null || late.scheduled.at === paidUntil).toBe(true)
    await shop.advance(0)
  })

  it.each([
    ['a price that is not on the bill', 'other', 'third'],
    ['a price that is not there', 'one', 'none'],
    ['a one-off price', 'one', 'once'],
    ['another currency', 'one', 'euro'],
  ])('refuses %s', async (_name, from, to) => {
    const { ref, one, other } = await subscribed(1_000, 1_500)
    const known: Record<string, string> = {
      one,
      other,
      third: await shop.price(900, 'month'),
      none: 'price_none',
      once: await shop.price(900, null),
      euro: await shop.price(900, 'month', 'eur'),
    }
    const wanted = { from: String(known[from]), to: String(known[to]), quantity: 1 }
    for (const when of ['now', 'period end'] as const) {
      await expect(change(ref, wanted, when)).rejects.toMatchObject({ kind: 'refused' })
    }
    expect(await state(ref)).toMatchObject({ items: [{ priceId: one, quantity: 1 }], scheduled: null })
  })

  it('generated changes are charged as they were previewed', { timeout: 300_000 }, async () => {
    // Of its own: the clock goes far, and others would renew all the way.
    await shop.close()
    shop = await open()
    const random = seeded(13)
    const upTo = (most: number) => Math.floor(random() * most)
    const prices: string[] = []
    for (const interval of ['day', 'week', 'month', 'month', 'month', 'year'] as const) {
      prices.push(await shop.price(upTo(200_000), interval), await shop.price(upTo(1_000), interval))
    }
    let [changes, credited, atPeriodEnd] = [0, 0, 0]
    while (changes < CHANGES) {
      const ref = await shop.subscribe([{ priceId: pick(random, prices), quantity: 1 + upTo(20) }])
      let expected: { to: string; charge: number } | null = null
      // Not more than the sandbox keeps invoices of.
      for (let step = 0; step < 11; step += 1) {
        const before = await state(ref)
        const kept = await shop.invoices(ref)
        const [item] = before.items
        if (!item) throw new Error('nothing on the bill')
        const wanted = { from: item.priceId, to: pick(random, prices), quantity: 1 + upTo(20) }
        const same = wanted.to === item.priceId && wanted.quantity === item.quantity
        const when = random() < 0.7 ? 'now' : 'period end'
        const quote = await preview(ref, wanted, when)
        await change(ref, wanted, when)
        changes += 1
        const made = (await shop.invoices(ref)).slice(kept.length)
        if (when === 'now' && !same) {
          expect(made.map(charged)).toEqual([{ credit: quote.credit, charge: quote.charge }])
          if (quote.credit > quote.charge) credited += 1
          expected = null
        } else {
          expect(made).toEqual([])
          expected = when === 'period end' && !same ? { to: wanted.to, charge: quote.charge } : null
        }
        const anew = when === 'now' && !same
        const { paidUntil } = anew ? await state(ref) : before
        const left = (Number(paidUntil) - (await shop.now())) / 1000
        // Mostly within the period; sometimes exactly to its end.
        if (random() < 0.6) await shop.advance(1 + upTo(Math.max(left - 2, 1)))
        else {
          const earlier = (await shop.invoices(ref)).length
          await shop.advance(left)
          const [renewal, ...more] = (await shop.invoices(ref)).slice(earlier)
          expect(more).toEqual([])
          if (expected) {
            const lines = renewal?.lines.map(({ priceId, amount }) => [priceId, amount])
            expect(lines).toEqual([[expected.to, expected.charge]])
            atPeriodEnd += 1
          }
          expected = null
        }
      }
      await shop.provider.cancel(ref, 'now')
    }
    // Enough of each kind for this to mean something.
    expect([credited > CHANGES / 10, atPeriodEnd > CHANGES / 20]).toEqual([true, true])
  })
})
