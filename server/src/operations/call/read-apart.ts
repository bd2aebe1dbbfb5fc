import { isOutage, isTimeout } from '../../store/connection/outage.ts'
import type { Service } from './service.ts'

/** Reads on the replica, if there is one that has all that was committed before; on the primary otherwise. */
export async function readApart<T>(service: Service, read: (service: Service) => T): Promise<Awaited<T>> {
  const pools = await service.replica?.pools()
  if (!pools) return await read(service)
  try {
    return await read({ ...service, ...pools })
  } catch (error) {
    // What took too long there would take as long here, and hold up others.
    if (!isOutage(error) || isTimeout(error)) throw error
    service.replica?.rest(`failed to answer a read (${(error as Error).message})`)
    return await read(service)
  }
}
