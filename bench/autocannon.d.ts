// The part of autocannon that the bench uses; it comes without types.
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events'

  interface Client {
    setRequests(requests: { body: string }[]): void
  }
  interface Options {
    url: string
    method: 'POST'
    headers: Record<string, string>
    connections: number
    duration: number
    timeout: number
    setupClient(client: Client): void
    verifyBody?(body: string): boolean
  }
  interface Result {
    errors: number
    timeouts: number
    non2xx: number
    mismatches: number
    throughput: { total: number }
  }
  type Running = EventEmitter & PromiseLike<Result>

  export default function autocannon(options: Options): Running
}
