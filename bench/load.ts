import type { Distribution } from './distribution.ts'
import type { Request } from './requests.ts'

export interface Load {
  url: string
  request: Request
  /** requests use random numbers from 1 to this one */
  upTo: number
  /** of those numbers; absent: uniform */
  distribution?: Distribution
  connections: number
  seconds: number
  /** checks every answer, which slows the load generator */
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
  /** unexpected answers, as far as they were checked */
  wrong: number
  p50: number
  p99: number
}

export interface LoadGenerator {
  name: string
  run(load: Load): Promise<LoadResult>
}
