import type { Form } from './form.ts'
import type { World } from './world.ts'

/** What a request asks for, and with what. */
interface Asked {
  world: World
  form: Form
  /** what stands in the path's place for it */
  id: string
}

export interface Route {
  method: 'GET' | 'POST' | 'DELETE'
  /** `:id` takes one segment */
  path: string
  answer: (asked: Asked) => unknown
}
