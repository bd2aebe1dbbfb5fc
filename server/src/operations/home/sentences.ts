import type { AuditRow } from '../../store/audit.ts'

/**
 * What each operation did, as a sentence after the name of who did it. Braces contain a field of its subject, after the
 * change or else before it; otherwise the subject's id. What was about a user who has been deleted since has neither.
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
  changeRole: 'changed the role of {email}',
  removeMember: 'removed the member {email}',
  createPasswordReset: 'created a password reset link for {email}',

  createApp: 'created the app {name}',
  renameApp: 'renamed the app to {name}',
  setOrigins: 'changed the origins of the app {name}',
  archiveApp: (done) => `${archived(done)} the app {name}`,
  deleteApp: 'deleted the app {name}',
  advanceClock: 'moved the clock of the app {name}',
  createApiKey: 'created the API key {name}',
  rotateApiKey: 'rotated the API key {name}',
  revokeApiKey: 'revoked the API key {name}',
  rotateTokenKey: 'rotated the user token key, now {id}',
  revokeTokenKey: 'revoked the user token key {id}',

  createFeature: 'created the feature {name}',
  updateFeature: 'changed the feature {name}',
  archiveFeature: (done) => `${archived(done)} the feature {name}`,
  deleteFeature: 'deleted the feature {name}',
  createPackage: 'created the package {name}',
  updatePackage: 'changed the metadata of the package {name}',
  editPackage: 'changed the package {name}',
  publishPackage: 'published the package {name}',
  archivePackage: (done) => `${archived(done)} the package {name}`,
  deletePackage: 'deleted the package {name}',
  discardPackageDraft: 'discarded the draft of the package {name}',
  migrateSubscriptions:
    'moved those with version {fromVersion} of the package {packageId} to version {toVersion}',
  undoMigration:
    'undid the move from version {fromVersion} of the package {packageId} to version {toVersion}',
  copyCatalogue: 'copied the catalogue of the app {id}',
  loadSample: 'loaded the sample',
  removeSample: 'removed the sample',

  createUser: 'created the user {name}',
  updateUser: 'changed the user {name}',
  deleteUser: 'deleted a user',
  subscribe: 'subscribed the user {userId}',
  cancelSubscription: 'cancelled the subscription of {userId} to {packageId}',
  keepSubscription: 'kept the subscription of {userId} to {packageId}',
  setOverride: 'set an override for the user {userId}',
  removeOverride: 'removed an override of the user {userId}',
  changeSubscription: 'changed the plan of the user {userId}',
  cancelScheduledChange: 'cancelled the scheduled change of the user {userId}',
  startTrial: 'started a trial of the user {userId}',
  extendTrial: 'extended the trial of {userId} of {packageId}',
  recordUsage: 'recorded usage of the user {userId}',
  generateUserToken: 'created a token for the user {id}',
  importUsers: 'uploaded a file of users',
  applyUserImport: 'applied an import of users',
  undoUserImport: 'undid an import of users',

  createPrice: 'added a price to the package {packageId}',
  importPrice: 'imported a price for the package {packageId}',
  archivePrice: (done) => `${archived(done)} a price of the package {packageId}`,
  createBillingTemplate: 'created the billing template {name}',
  archiveBillingTemplate: (done) => `${archived(done)} the billing template {name}`,
  deleteBillingTemplate: 'deleted the billing template {name}',
  setProviderAccount: 'set up the billing provider {provider}',
  removeProviderAccount: 'removed the billing provider {provider}',
  syncSubscription: 'changed the subscriptions of the user {userId}',
  setGraceDays: 'set the grace period to {graceDays} days',
  setAccessAfterRefund: 'set access after a refund to {accessAfterRefund}',
  reverseSandboxPayment: 'tried a refund or dispute of a sandbox payment of {userId} for {packageId}',
  replayNotice: 'replayed the notice {id}',
  replayFailedNotices: 'replayed all failed notices',
  reconcileBilling: 'synced with the billing providers',
  exportAuditLog: 'exported the audit log',
  generateSubscriptionLink: 'created a payment link from the billing template {name}',
}

const tries = (count: unknown): string => (count === 1 ? 'once' : `${count} times`)

function archived({ after }: Done): string {
  return after?.archivedAt === null ? 'brought back' : 'archived'
}

/** Whoever did it, as people call them. */
export function actorName({
  actorKind,
  memberEmail,
  actorName,
}: Pick<AuditRow, 'actorKind' | 'memberEmail' | 'actorName'>): string {
  if (actorKind === 'MEMBER') return memberEmail
  if (actorKind === 'API_KEY') return actorName ?? memberEmail
  return actorKind === 'PROVIDER' ? (PROVIDER_NAMES[memberEmail] ?? memberEmail) : 'Somebody'
}

const PROVIDER_NAMES: Record<string, string> = { stripe: 'Stripe', sandbox: 'The sandbox' }

type Done = Pick<AuditRow, 'operation' | 'subjectId' | 'before' | 'after'>

/** "changed the package Pro" */
export function sentenceOf(done: Done): string {
  const { operation, subjectId, before, after } = done
  const sentence = SENTENCES[operation] ?? operation
  return (typeof sentence === 'string' ? sentence : sentence(done)).replace(/{(\w+)}/g, (_, name: string) =>
    String(after?.[name] ?? before?.[name] ?? subjectId ?? '(deleted)'),
  )
}
