import { lazyRouteComponent, type RouteComponent } from '@tanstack/react-router'
import { ApiError } from './api/api-error.ts'

const PATIENCE_MS = 15_000

/** A page whose code is loaded when it is first opened. It fails when the code does not come, in time or at all. */
export function lazyPage<Name extends string>(load: () => Promise<Record<Name, RouteComponent>>, name: Name) {
  return lazyRouteComponent<Record<string, RouteComponent>, string>(() => inTime(load()), name)
}

async function inTime<Module>(module: Promise<Module>): Promise<Module> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ApiError('NO_CODE', `This page has not loaded after ${PATIENCE_MS / 1_000} seconds.`)),
      PATIENCE_MS,
    )
  })
  try {
    return await Promise.race([module, late])
  } finally {
    clearTimeout(timer)
  }
}
