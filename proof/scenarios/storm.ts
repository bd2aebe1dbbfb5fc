import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getIntrospectionQuery } from 'graphql'
import { withClient } from '../../bench/postgres.ts'
import { furnish, named } from '../harness/app.ts'
import { Caller, DEADLINE_MS } from '../harness/caller.ts'
import { Cluster } from '../harness/cluster.ts'
import { API_KEY, type ServiceNode, startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const READERS = 40
/** Of each: their answers amount to hundreds of megabytes. */
const REQUESTS = 80
const HELD_MS = 5_000
/** Time for a broken product to show it, however busy the machine is. */
const HELD_BROKEN_MS = 30_000
const MOST_GROWTH_MB = 150
const USERS = 10_000
const BYTES_EACH = 2_000
const AT_ONCE = 250
const CHECK = 'query ($user: String!) { canUseFeature(userId: $user, featureId: "call") { access } }'

export const storm: Scenario = {
  name: 'storm',
  what: 'clients that request long lists and schemas and never read the answer, then thousands of connections that send nothing or half a request; checks must still be answered',
  weight: 8,
  full: { 'stalled readers': READERS, connections: 10_000 },
  faults: ['memory growth', 'access denied', 'crashed', 'unanswered', 'unexpected error', 'no recovery'],
  breakage: {
    what: 'a list is written without waiting for a slow reader',
    sources: [
      {
        file: 'http/answer.ts',
        find: 'if (!to.write(framed(piece))) await room(to)',
        replace: 'if (!to.write(framed(piece)) && !to) await room(to)',
      },
    ],
  },

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    const databaseUrl = await cluster.createDatabase()
    const node = await startNode(trial, { DATABASE_URL: databaseUrl })
    const users = named('u', 8)
    await furnish(node, users)
    await withClient(databaseUrl, (client) =>
      client.query(
        `insert into users (app_id, id, metadata) select 'default', 'padded ' || i, json_build_object('pad', repeat('x', $2::int))
         from generate_series(1, $1::int) i`,
        [USERS, BYTES_EACH],
      ),
    )
    const checks = keepChecking(trial, node, users)
    await stall(trial, node)
    if (trial.goesOn('connections')) await rush(trial, node)
    await checks.stop()
    if (node.ended) trial.fault('crashed', `${JSON.stringify(node.ended)} ${node.output().slice(-500)}`)
  },
}

/** Checks, one after the other, on an existing connection. */
function keepChecking(trial: Trial, node: ServiceNode, users: readonly string[]) {
  const caller = new Caller(trial)
  let going = true
  const checking = (async () => {
    for (let i = 0; going && !node.ended; i++) {
      const began = performance.now()
      for (;;) {
        const answer = await caller.ask(node.url, CHECK, { user: users[i % users.length] })
        trial.count('checks')
        if (answer?.data?.canUseFeature?.access === true) break
        if (performance.now() - began > DEADLINE_MS || node.ended) {
          trial.fault('access denied', `a check was answered ${JSON.stringify(answer)}`)
          break
        }
        trial.count('retried checks')
        await sleep(50)
      }
      await sleep(20)
    }
  })()
  return {
    async stop() {
      going = false
      await checking
    },
  }
}

/** Clients that do not read what they asked for. */
async function stall(trial: Trial, node: ServiceNode): Promise<void> {
  const before = await node.memory()
  const bodies = ['{ users { id metadata } }', getIntrospectionQuery()].map((query) => {
    const body = JSON.stringify({ query })
    return `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: ${API_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  })
  const sockets = Array.from({ length: READERS }, () => open(node.url).pause())
  trial.count('stalled readers', READERS)
  const began = performance.now()
  let most = before ?? 0
  const heldMs = trial.breakage ? HELD_BROKEN_MS : HELD_MS
  const grown = () => before !== null && most - before > MOST_GROWTH_MB
  for (let sent = 0; performance.now() - began < heldMs && !node.ended && !grown(); sent++) {
    if (sent < REQUESTS)
      for (const [i, socket] of sockets.entries()) socket.write(bodies[i % bodies.length] ?? '')
    most = Math.max(most, (await node.memory()) ?? 0)
    await sleep(20)
  }
  for (const socket of sockets) socket.destroy()
  if (before === null) return
  trial.note(
    `memory was ${before.toFixed(0)} MB before ${READERS} stalled readers and at most ${most.toFixed(0)} MB with them`,
  )
  if (grown()) trial.fault('memory growth', `it grew by ${(most - before).toFixed(0)} MB`)
}

/** As many connections as the machine lets one process open, up to the full number. */
async function rush(trial: Trial, node: ServiceNode): Promise<void> {
  const limit = /Max open files\s+(\d+)/.exec(
    await readFile('/proc/self/limits', 'utf8').catch(() => ''),
  )?.[1]
  if (limit) trial.note(`the limit of open files is ${limit} per process`)
  const standing = new Set<Socket>()
  let refused = 0
  while (trial.goesOn('connections', 2 * AT_ONCE) && !node.ended) {
    for (let i = 0; i < AT_ONCE; i++) {
      const socket = open(node.url)
      standing.add(socket)
      socket.on('close', () => {
        standing.delete(socket)
        refused++
      })
      if (i % 2 === 0) socket.write('POST /graphql HTTP/1.1\r\nHost: x\r\n')
    }
    trial.count('connections', AT_ONCE)
    await sleep(10)
  }
  await sleep(500)
  trial.note(
    `${standing.size.toLocaleString('en')} connections were open at once; the service closed ${refused.toLocaleString('en')}`,
  )
  const began = performance.now()
  for (const socket of standing) socket.destroy()
  const answer = await new Caller(trial).ask(node.url, CHECK, { user: 'u1' })
  if (answer?.data?.canUseFeature?.access === true) trial.recovered(performance.now() - began)
  else trial.fault('no recovery', `a new connection after the storm: ${JSON.stringify(answer)}`)
}

function open(url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  return socket
}
