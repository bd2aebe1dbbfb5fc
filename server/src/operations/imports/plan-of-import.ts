import type { Catalogue } from '../../domain/catalogue.ts'
import { quote } from '../../domain/errors.ts'

/** Why no new user can have this plan; null: they can. */
export function planProblem(id: string, { packages }: Pick<Catalogue, 'packages'>): string | null {
  const found = packages.get(id)
  if (!found) return `Plan not found: ${quote(id)}`
  if (found.isAddon) return `${quote(id)} is an add-on. A plan is required.`
  if (found.status !== 'PUBLISHED') return `The plan ${quote(id)} is not published`
  if (found.archived) return `The plan ${quote(id)} is archived`
  return null
}
