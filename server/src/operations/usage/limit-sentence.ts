import type { Catalogue } from '../../domain/catalogue.ts'
import type { LimitSource, LimitSources } from '../../domain/limit-sources.ts'
import type { Override } from '../../domain/override.ts'
import { joined, named, number, type Sentence, say, time } from '../../domain/sentence.ts'
import type { UserEntitlement } from '../../domain/user-entitlement.ts'

/** Where a limit comes from: "15,000 = 10,000 Pro + 5,000 override until 2026-12-31 00:00 UTC". */
export function limitSentence(
  { appId, catalogue }: { appId: string; catalogue: Catalogue },
  entitlement: UserEntitlement,
  { grants, override }: LimitSources,
): Sentence {
  const names = grants.map(({ packageId, quantity }) => {
    const name = catalogue.packages.get(packageId)?.name ?? packageId
    const link = named(name, { kind: 'PACKAGE', appId, id: packageId })
    return quantity === 1 ? say`${link}` : say`${link} × ${quantity}`
  })
  const amount = ({ limit }: LimitSource, i: number) =>
    limit === null ? say`${names[i] ?? ''}` : say`${number(limit)} ${names[i] ?? ''}`
  const replaced = grants.length === 0 ? '' : say`, instead of ${joined(grants.map(amount), ' + ')}`
  const budget = entitlement.kind === 'metered' ? entitlement.allowance.budget : null

  if (override && override.mode !== 'ADD') {
    const what = override.mode === 'REPLACE' ? `${number(override.limit ?? 0)} from` : 'From'
    return say`${what} an override${until(override)}${replaced}`
  }
  // Nothing is added to what is unlimited.
  const unlimited = names.filter((_, i) => grants[i]?.limit === null)
  if (budget === null) return say`From ${joined(unlimited, ', ')}`
  const parts = grants.map(amount)
  if (override) parts.push(say`${number(override.limit ?? 0)} override${until(override)}`)
  if (parts.length === 1)
    return override
      ? say`${number(budget)} from an override${until(override)}`
      : say`${number(budget)} from ${names[0] ?? ''}`
  const sum = grants.reduce((all, { limit }) => all + (limit ?? 0), override?.limit ?? 0)
  // The sum of very large limits stops at the largest that can be counted.
  return say`${number(budget)} ${sum === budget ? '=' : '≤'} ${joined(parts, ' + ')}`
}

const until = ({ expiresAt }: Override) => (expiresAt === null ? '' : say` until ${time(expiresAt)}`)
