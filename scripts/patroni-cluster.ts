// Brings up a small Patroni cluster on loopback (etcd, two PostgreSQL with synchronous replication, HAProxy), to try a
// failover by hand. Everything is gone after Ctrl-C.
import { cleanUp, cleanUpOnSignals } from '../bench/cleanup.ts'
import { missingPrograms, PatroniCluster } from '../proof/harness/patroni.ts'
import { Trial } from '../proof/trial.ts'

const PLAN = { name: 'cluster', full: {}, faults: [] }

if (missingPrograms.length > 0) {
  console.error(
    `Missing programs: ${missingPrograms.join(', ')}. On Debian, run apt-get install patroni etcd-server haproxy postgresql`,
  )
  process.exit(1)
}
cleanUpOnSignals('cluster')
const trial = new Trial(PLAN, { seed: 1, seconds: null, breakage: null, previous: null })
try {
  const cluster = await PatroniCluster.make(trial)
  console.info(`
All servers   DATABASE_URL='${cluster.url}'
HAProxy       DATABASE_URL='${cluster.haproxyUrl}'
`)
  for (const node of cluster.nodes) console.info(`${node.name}: ${node.about}`)
} catch (error) {
  await cleanUp()
  throw error
}
