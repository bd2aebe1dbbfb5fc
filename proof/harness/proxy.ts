import type { NetConnectOpts } from 'node:net'
import { NetworkProxy } from '../../server/test/harness/network-proxy.ts'
import type { Trial } from '../trial.ts'

/** A proxy that ends with the trial. */
export async function proxyIn(trial: Trial, target: NetConnectOpts): Promise<NetworkProxy> {
  const proxy = await NetworkProxy.before(target)
  trial.atEnd(() => proxy.close())
  return proxy
}
