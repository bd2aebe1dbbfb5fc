import { isOutage, isTimeout } from '../../store/connection/outage.ts'
import type { Service } from './service.ts'

/** Reads from the replica if it has everything that was committed before, otherwise from the primary. */
export async function readApart<T>(service: Service, read: (service: Service) => T): Promise<Awaited<T>> {
  const pools = await service.replica?.pools()
  if (!pools) return await read(service)
  try {
    return await read({ ...service, ...pools })
  } catch (error) {
    // A read that timed out there would take as long here and delay others.
    if (!isOutage(error) || isTimeout(error)) throw error
    service.replica?.rest(`failed to answer a read (${(error as Error).message})`)
    return await read(service)
  }
}
