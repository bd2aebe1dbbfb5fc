import { TollgateError } from '../../domain/errors.ts'
import { isAtLeast, type Role } from '../../domain/role.ts'
import type { Member } from '../../store/members/members.ts'
import { MUTATION_NAMES, MUTATIONS, QUERIES } from '../registry/registry.ts'

export const notSignedIn = () => new TollgateError('UNAUTHENTICATED', 'Sign in to the dashboard first')

/** Rejects a member without the required role. */
export function checkRole(least: Role | 'VISITOR', member: Member | null): void {
  if (least === 'VISITOR') return
  if (!member) throw notSignedIn()
  if (!isAtLeast(member.role, least)) {
    const owed = least === 'OWNER' ? 'owner' : 'editor or owner'
    throw new TollgateError(
      'FORBIDDEN',
      `This operation requires the ${owed} role; you have the ${member.role.toLowerCase()} role`,
    )
  }
}

/** Whether it needs no sign-in. The name may be unknown. */
export function isForVisitors(kind: 'query' | 'mutation', name: string): boolean {
  const entries: Readonly<Record<string, { role: string }>> = kind === 'query' ? QUERIES : MUTATIONS
  return Object.hasOwn(entries, name) && entries[name]?.role === 'VISITOR'
}

/** The mutations that a member may run. The dashboard hides the others. */
export function permissions(member: Member): string[] {
  return MUTATION_NAMES.filter((name) => {
    const { dashboard, role } = MUTATIONS[name]
    return dashboard && (role === 'VISITOR' || isAtLeast(member.role, role))
  })
}
