import { describe, expect, it } from 'vitest'
import { MAX_DELIVERIES_PER_ENDPOINT, MAX_DELIVERIES_UNDER_WAY } from '../../domain/limits.ts'
import { DeliverySlots } from './delivery-slots.ts'

// Slots that are taken and given back add up, and an endpoint always keeps at least one.

const A = { appId: 'app', endpointId: 'a' }
const B = { appId: 'app', endpointId: 'b' }
const freeOf = (slots: DeliverySlots, { endpointId }: typeof A) =>
  slots.busy.find((one) => one.endpointId === endpointId)?.free ?? MAX_DELIVERIES_PER_ENDPOINT

describe('gap: slots for deliveries', () => {
  it('are bounded for each endpoint and in all', () => {
    const slots = new DeliverySlots()
    for (let i = 0; i < MAX_DELIVERIES_PER_ENDPOINT; i++) slots.take(A)
    slots.take(B)
    expect(slots.free).toBe(MAX_DELIVERIES_UNDER_WAY - MAX_DELIVERIES_PER_ENDPOINT - 1)
    expect(freeOf(slots, A)).toBe(0)
    expect(freeOf(slots, B)).toBe(MAX_DELIVERIES_PER_ENDPOINT - 1)
    slots.give(A, true)
    expect(freeOf(slots, A)).toBe(1)
  })

  it('become fewer while an endpoint is silent, and more with each response', () => {
    const slots = new DeliverySlots()
    const attempt = (answered: boolean) => {
      slots.take(A)
      slots.give(A, answered)
      return freeOf(slots, A)
    }
    expect([attempt(false), attempt(false), attempt(false), attempt(false)]).toEqual([4, 2, 1, 1])
    expect([attempt(true), attempt(true)]).toEqual([2, 3])
    for (let i = 0; i < MAX_DELIVERIES_PER_ENDPOINT; i++) attempt(true)
    expect(slots.busy).toEqual([])
    expect(slots.free).toBe(MAX_DELIVERIES_UNDER_WAY)
  })

  it('leave other endpoints alone', () => {
    const slots = new DeliverySlots()
    slots.take(A)
    slots.give(A, false)
    expect(freeOf(slots, B)).toBe(MAX_DELIVERIES_PER_ENDPOINT)
  })

  it('are not given back twice', () => {
    expect(() => new DeliverySlots().give(A, true)).toThrow('nobody had taken')
  })
})
