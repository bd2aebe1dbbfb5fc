import type { Call } from '../call/call.ts'

/** The email address of the member who makes a version; null: another caller. */
export const authorOf = ({ actor }: Call): string | null =>
  actor.kind === 'member' ? actor.member.email : null
