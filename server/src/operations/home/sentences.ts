import { providerNameFirst } from '../../domain/provider-name.ts'
import { number } from '../../domain/sentence.ts'
import type { AuditRow } from '../../store/audit/audit.ts'

/** What a sentence is made of. */
export type Done = Pick<AuditRow, 'appId' | 'operation' | 'subjectKind' | 'subjectId' | 'before' | 'after'>

/**
 * What each operation did, as a sentence after the name of who did it. Braces contain something that has a page (see tell.ts),
 * possibly with the words for it, or a field of the subject, after the change or else before it. What was about a user
 * who has been deleted since has neither.
 */
export const SENTENCES: Record<string, string | ((done: Done) => string)> = {
  signIn: 'signed in',
  signInFailed: ({ after }) =>
    `failed to sign in ${after?.email ? 'as {email}' : 'with an unknown email'}, ${tries(after?.attempts)}`,
  setOwner: 'set up this installation as its owner',
  acceptInvitation: 'accepted the invitation',
  resetPassword: 'set a new password with a reset link',
  changePassword: 'changed the password',
  signOutSession: 'signed out of a browser',
  signOutEverywhere: 'signed out everywhere',

  inviteMember: 'invited {email}',
  revokeInvitation: 'revoked the invitation of {email}',
  changeRole: 'changed the role of {member}',
  removeMember: 'removed the member {member}',
  createPasswordReset: 'created a password reset link for {member}',

  createApp: 'created the app {app}',
  renameApp: 'renamed the app to {app}',
  setOrigins: 'changed the origins of the app {app}',
  archiveApp: (done) => `${archived(done)} the app {app}`,
  deleteApp: 'deleted the app {app}',
  advanceClock: 'moved the clock of the app {app}',
  createApiKey: 'created the API key {key}',
  rotateApiKey: 'rotated the API key {key}',
  revokeApiKey: 'revoked the API key {key}',
  rotateTokenKey: 'rotated the user token key, now {id}',
  revokeTokenKey: 'revoked the user token key {id}',

  createFeature: 'created the feature {feature}',
  updateFeature: 'changed the feature {feature}',
  archiveFeature: (done) => `${archived(done)} the feature {feature}`,
  deleteFeature: 'deleted the feature {feature}',
  createPackage: 'created the package {package}',
  updatePackage: 'changed the metadata of the package {package}',
  editPackage: 'changed the package {package}',
  publishPackage: 'published the package {package}',
  archivePackage: (done) => `${archived(done)} the package {package}`,
  deletePackage: 'deleted the package {package}',
  discardPackageDraft: 'discarded the draft of the package {package}',
  migrateSubscriptions:
    'migrated subscriptions of the package {package} from version {fromVersion} to version {toVersion}',
  undoMigration:
    'undid the migration of the package {package} from version {fromVersion} to version {toVersion}',
  copyCatalogue: 'copied the catalogue of the app {app}',
  loadSample: 'loaded the sample',
  removeSample: 'removed the sample',

  createUser: 'created the user {user}',
  updateUser: 'changed the user {user}',
  deleteUser: 'deleted a user',
  subscribe: 'subscribed the user {user}',
  cancelSubscription: 'cancelled the subscription of {user} to {package}',
  keepSubscription: 'reverted the cancellation of the subscription of {user} to {package}',
  setOverride: 'set an override for the user {user}',
  removeOverride: 'removed an override of the user {user}',
  changeSubscription: 'changed the plan of the user {user}',
  cancelScheduledChange: 'cancelled the scheduled change of the user {user}',
  startTrial: 'started a trial for the user {user}',
  extendTrial: 'extended the trial of {package} for {user}',
  recordUsage: 'recorded usage of the user {user}',
  generateUserToken: 'created a token for the user {user}',
  importUsers: 'uploaded {import:a file of users}',
  applyUserImport: 'applied {import:an import of users}',
  undoUserImport: 'undid {import:an import of users}',

  createPrice: 'added a price to the package {package}',
  importPrice: 'imported a price for the package {package}',
  archivePrice: (done) => `${archived(done)} a price of the package {package}`,
  createBillingTemplate: 'created the billing template {template}',
  archiveBillingTemplate: (done) => `${archived(done)} the billing template {template}`,
  deleteBillingTemplate: 'deleted the billing template {template}',
  setProviderAccount: 'set up the billing provider {provider}',
  removeProviderAccount: 'removed the billing provider {provider}',
  syncSubscription: 'changed the subscriptions of the user {user}',
  setGraceDays: ({ after }) => `set the grace period to ${days(after?.graceDays)}`,
  setAccessAfterRefund: ({ after }) =>
    `set access to ${after?.accessAfterRefund === 'END' ? 'end' : 'continue'} after a refund or dispute`,
  reverseSandboxPayment: 'simulated a refund or dispute of a sandbox payment of {user} for {package}',
  replayNotice: 'replayed the webhook event {id}',
  replayFailedNotices: 'replayed all failed webhook events',
  reconcileBilling: 'synced with the billing providers',
  exportAuditLog: 'exported the audit log',
  generateSubscriptionLink: 'created a payment link from the billing template {template}',
}

const tries = (count: unknown): string => (count === 1 ? 'once' : `${number(Number(count))} times`)
const days = (count: unknown): string => (count === 1 ? '1 day' : `${number(Number(count))} days`)

function archived({ after }: Done): string {
  return after?.archivedAt === null ? 'restored' : 'archived'
}

/** Whoever did it, as people call them. */
export function actorName({
  actorKind,
  memberEmail,
  actorName,
}: Pick<AuditRow, 'actorKind' | 'memberEmail' | 'actorName'>): string {
  if (actorKind === 'MEMBER') return memberEmail
  if (actorKind === 'API_KEY') return actorName ?? memberEmail
  return actorKind === 'PROVIDER' ? providerNameFirst(memberEmail) : 'Somebody'
}
