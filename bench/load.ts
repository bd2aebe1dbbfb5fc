import type { Request } from './requests.ts'

export interface Load {
  url: string
  request: Request
  /** requests are for numbers from 1 to this one, at random */
  upTo: number
  connections: number
  seconds: number
  /** looks at every answer, which costs the load generator time */
  lookAtAnswers?: boolean
}

export interface LoadResult {
  requests: number
  perSecond: number
  /** milliseconds */
  p50: number
  p99: number
  bytesPerAnswer: number
}

/** What a load generator reports; times in milliseconds. */
export interface RawResult {
  requests: number
  seconds: number
  bytes: number
  /** not answered, or not with 200 */
  failures: number
  /** answered otherwise than expected, as far as anybody looked */
  wrong: number
  p50: number
  p99: number
}

export interface LoadGenerator {
  name: string
  run(load: Load): Promise<LoadResult>
}
