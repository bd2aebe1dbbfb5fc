import { badUserInput, quote } from '../../domain/errors.ts'
import { DEFAULT_RESET_PERIOD, type NewOverride, overrideAt, withOverride } from '../../domain/override.ts'
import { bumpVersion, lockApp } from '../../store/apps/apps.ts'
import { addOverridePeriod, storeOverrides } from '../../store/users/overrides.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireFeature, withLockedUser } from '../call/require.ts'
import type { UserOverride } from './overrides.ts'

/** Sets the override of a user and feature, replacing any earlier one. */
export async function setOverride(
  call: Call,
  { userId, ...asked }: NewOverride & { userId: string },
): Promise<UserOverride> {
  const { appId } = call
  return mutate(call, async (tx, moment) => {
    // To lock both, the app is locked first. The catalogue nearly always stays as it is, and only the user is locked.
    if (!isCounted(call, asked)) await lockApp(tx, appId)
    return withLockedUser(tx, appId, userId, async (users, user) => {
      const { app, now } = await moment()
      const feature = requireFeature(app.catalogue, asked.featureId)
      if (feature.archived && asked.mode !== 'DENY' && !overrideAt(user.overrides, feature.id, now)) {
        throw badUserInput(
          `The feature ${quote(feature.id)} is archived. Restore it before setting overrides for it.`,
          'featureId',
        )
      }
      const { set, all } = withOverride(user.overrides, asked, feature.type, now)
      if (!feature.overridePeriods.includes(set.resetPeriod)) {
        await addOverridePeriod(tx, appId, feature.id, set.resetPeriod)
        await bumpVersion(tx, appId)
      }
      await storeOverrides(users, appId, user.uid, all)
      return { userId, ...set }
    })
  })
}

/** Whether overrides of the feature already use this reset period, according to the cache. */
function isCounted({ service, appId }: Call, { featureId, resetPeriod }: NewOverride): boolean {
  const feature = service.apps.known(appId)?.catalogue.features.get(featureId)
  return feature?.overridePeriods.includes(resetPeriod ?? DEFAULT_RESET_PERIOD) ?? false
}
