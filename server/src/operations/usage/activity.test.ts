import { describe, expect, it } from 'vitest'
import { Activity } from './activity.ts'

const calls = (...appIds: string[]) => appIds.map((appId) => ({ caller: { appId } }))

describe('gap: the counts of the home page', () => {
  it('give each app of a batch its own, in whatever order they come', () => {
    const activity = new Activity()
    activity.count('checks', calls('a', 'a', 'b', 'a'))
    activity.count('records', calls('b'))
    activity.count('checks', [])
    expect(activity.pending('a')).toEqual({ checks: 3, records: 0 })
    expect(activity.pending('b')).toEqual({ checks: 1, records: 1 })
    expect(activity.pending('c')).toEqual({ checks: 0, records: 0 })
  })
})
