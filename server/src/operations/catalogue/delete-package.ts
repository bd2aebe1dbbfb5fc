import { checkDeletable, counted, deletionRefusal } from '../../domain/deletion.ts'
import * as store from '../../store/catalogue/packages.ts'
import { lockPackage, type PackageReferences, packageReferences } from '../../store/catalogue/references.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'
import { requirePackage } from '../call/require.ts'
import { catalogueOf } from './catalogue.ts'
import { lookingUp } from './reach.ts'

/** Uses of a package, and whether it can be deleted. */
export interface PackageUse extends PackageReferences {
  /** reason why it cannot be deleted; null: it can */
  refusal: string | null
}

export async function packageUse(call: Call, id: string): Promise<PackageUse> {
  const { appId } = call
  requirePackage(await catalogueOf(call), id)
  const { now } = await requireApp(call.service.pool, appId)
  const found = await lookingUp(call, (tx) => packageReferences(tx, appId, id, now))
  return { ...found, refusal: deletionRefusal('package', id, reasons(found)) }
}

/** Deletes a package that never had a subscription and is in no template, with its prices and its history. */
export function deletePackage(call: Call, id: string): Promise<{ id: string }> {
  const { appId } = call
  return mutateCatalogue(
    call,
    async (tx, { catalogue }, now) => {
      requirePackage(catalogue, id)
      // Counted with the package's row locked, to which a new subscription would refer.
      await lockPackage(tx, appId, id)
      checkDeletable('package', id, reasons(await packageReferences(tx, appId, id, now)))
      await store.deletePackage(tx, appId, id)
    },
    () => ({ id }),
  )
}

const reasons = ({ subscriptions, templates }: PackageReferences) => [
  counted(
    'has',
    subscriptions,
    'subscription (including cancelled ones)',
    'subscriptions (including cancelled ones)',
  ),
  counted('is used by', templates, 'template', 'templates'),
]
