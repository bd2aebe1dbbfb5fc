import { describe, expect, it } from 'vitest'
import { TollgateError } from './errors.ts'
import { EVENT_TYPES } from './event.ts'
import { eventFilter } from './event-filter.ts'

describe('gap: event types of a webhook endpoint', () => {
  it('are known ones, each once', () => {
    expect(eventFilter('types', ['user.created', 'user.deleted', 'user.created'])).toEqual([
      'user.created',
      'user.deleted',
    ])
    expect(eventFilter('types', EVENT_TYPES)).toEqual(EVENT_TYPES)
    expect(eventFilter('types', [])).toEqual([])
  })

  it.each([
    'user.exploded',
    'USER.CREATED',
    'user.*',
    '',
    'constructor',
    'webhook.test',
  ])('%j is refused, with the name of the field', (type) => {
    expect(() => eventFilter('types', ['user.created', type])).toThrow(TollgateError)
    expect(() => eventFilter('types', ['user.created', type])).toThrow(
      `types contains the unknown event type ${JSON.stringify(type)}`,
    )
  })
})
