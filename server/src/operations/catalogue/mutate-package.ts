import { quote, TollgateError } from '../../domain/errors.ts'
import type { Package } from '../../domain/package.ts'
import type { LoadedApp } from '../../store/catalogue/catalogue.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requirePackage } from '../call/require.ts'
import { checkVersion, packageVersion } from '../call/version.ts'

/** A mutation of one package. */
export function mutatePackage(
  call: Call,
  id: string,
  change: (tx: Tx, found: Package, app: LoadedApp, now: number) => Promise<void>,
): Promise<Package> {
  return mutateCatalogue(
    call,
    (tx, before, now) => {
      const found = requirePackage(before.catalogue, id)
      checkVersion('package', packageVersion(found), call.expectedVersion)
      return change(tx, found, before, now)
    },
    (after) => requirePackage(after.catalogue, id),
  )
}

/** Edits are refused until a scheduled publication has taken place, so that it publishes the reviewed draft. */
export function checkNotScheduled({ id, scheduled }: Package): void {
  if (!scheduled || scheduled.problem !== null) return
  throw new TollgateError(
    'CONFLICT',
    `The package ${quote(id)} is scheduled to be published at ${new Date(scheduled.at).toISOString()}. Cancel that before editing it.`,
  )
}
