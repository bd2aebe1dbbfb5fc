import type Stripe from 'stripe'
import type { Form } from './form.ts'
import { invalid, noSuch } from './refusals.ts'

interface Listed {
  id: string
  created?: number
}

/** A page of these, newest first, as the form asks for it. */
export function page<Thing extends Listed>(
  url: string,
  things: Iterable<Thing>,
  form: Form,
  keep: (thing: Thing) => boolean = () => true,
): Stripe.ApiList<Thing> {
  const created = form.form('created')
  const [gt, gte, lt, lte] = ['gt', 'gte', 'lt', 'lte'].map((bound) => created?.integer(bound))
  const all = [...things].reverse().filter((thing) => {
    const at = thing.created ?? 0
    const inTime = at > (gt ?? -1) && at >= (gte ?? 0) && at < (lt ?? Infinity) && at <= (lte ?? Infinity)
    return inTime && keep(thing)
  })
  const limit = form.integer('limit') ?? 10
  if (limit < 1 || limit > 100) throw invalid('Limit must be between 1 and 100', 'limit')
  const [after, before] = [form.text('starting_after'), form.text('ending_before')]
  const at = (id: string, param: string) => {
    const index = all.findIndex((thing) => thing.id === id)
    if (index < 0) throw noSuch('object', id, param, 400)
    return index
  }
  if (before !== undefined) {
    const end = at(before, 'ending_before')
    const start = Math.max(0, end - limit)
    return { object: 'list', data: all.slice(start, end), has_more: start > 0, url }
  }
  const start = after === undefined ? 0 : at(after, 'starting_after') + 1
  return { object: 'list', data: all.slice(start, start + limit), has_more: all.length > start + limit, url }
}

/** A list that is part of another thing. */
export const whole = <Thing>(url: string, data: Thing[]): Stripe.ApiList<Thing> => ({
  object: 'list',
  data,
  has_more: false,
  url,
})
