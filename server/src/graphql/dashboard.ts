import type { GraphQLSchema } from 'graphql'
import type { Package, PackageEdit } from '../domain/package.ts'
import type { Service } from '../operations/call.ts'
import { apiKeys, createApiKey, revokeApiKey } from '../operations/dashboard/api-keys.ts'
import { advanceClock, apps, createApp, setOrigins } from '../operations/dashboard/apps.ts'
import { cancelSubscription } from '../operations/dashboard/cancel-subscription.ts'
import { discardPackageDraft, editPackage, publishPackage } from '../operations/dashboard/edit-package.ts'
import { type MemberCall, notSignedIn } from '../operations/dashboard/member-call.ts'
import { dashboardPackage, dashboardPackages } from '../operations/dashboard/packages.ts'
import { type SignedIn, setOwner, signIn, signOut } from '../operations/dashboard/sign-in.ts'
import type { ApiKeyRow } from '../store/api-keys.ts'
import type { AppRow } from '../store/apps.ts'
import type { Member } from '../store/members.ts'
import { acceptQuotedEnums, type Builder, newBuilder } from './builder.ts'
import { defineCatalogueTypes } from './catalogue-types.ts'
import { defineEntitlementInput } from './entitlement-input.ts'
import { defineSubscriptionTypes } from './subscription-types.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

/** One request from a browser, signed in or not. */
export interface DashboardContext {
  service: Service
  member: Member | null
  /** what the request's cookie holds */
  session: string | null
  /** Sets the cookie of the answer; null takes it away. */
  setSession(session: string | null): void
}

/** The dashboard's API: what the people who run an app may do. */
export function dashboardSchema(): GraphQLSchema {
  const builder = newBuilder<DashboardContext>()
  const types = defineTypes(builder)
  defineQueries(builder, types)
  defineMutations(builder, types)
  return acceptQuotedEnums(builder.toSchema())
}

function signedIn({ service, member }: DashboardContext): MemberCall {
  if (!member) throw notSignedIn()
  return { service, member }
}

type Types = ReturnType<typeof defineTypes>

function defineTypes(builder: Builder<DashboardContext>) {
  const catalogue = defineCatalogueTypes(builder)
  const subscription = defineSubscriptionTypes(builder, catalogue.package)
  const { resetPeriod, entitlement } = defineEntitlementInput(builder)

  const member = builder.objectRef<Member>('Member').implement({
    fields: (t) => ({ email: t.exposeString('email') }),
  })
  const app = builder.objectRef<AppRow>('App').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      testClock: t.boolean({
        description: 'Whether it has a time of its own, which advanceClock moves.',
        resolve: (app) => app.testClock !== null,
      }),
      origins: t.exposeStringList('origins', { description: 'The web pages that may use the client API.' }),
      now: t.string({ description: "The app's time.", resolve: (app) => isoTime(app.now) }),
    }),
  })
  const apiKey = builder.objectRef<ApiKeyRow>('ApiKey').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      prefix: t.exposeString('prefix', { description: 'How the secret begins.' }),
      createdAt: t.string({ resolve: (key) => isoTime(key.createdAt) }),
      revokedAt: t.string({ nullable: true, resolve: (key) => isoTimeOrNull(key.revokedAt) }),
    }),
  })
  const createdApiKey = builder
    .objectRef<Awaited<ReturnType<typeof createApiKey>>>('CreatedApiKey')
    .implement({
      fields: (t) => ({
        id: t.exposeString('id'),
        name: t.exposeString('name'),
        prefix: t.exposeString('prefix'),
        secret: t.exposeString('secret', { description: 'Shown this once.' }),
      }),
    })
  const revokedApiKey = builder.objectRef<{ id: string }>('RevokedApiKey').implement({
    fields: (t) => ({ id: t.exposeString('id') }),
  })

  const grant = builder.objectRef<PackageEdit['features'][number]>('Grant').implement({
    fields: (t) => ({
      id: t.exposeString('featureId'),
      limit: t.string({ nullable: true, resolve: (g) => (g.limit === null ? null : String(g.limit)) }),
      resetPeriod: t.expose('resetPeriod', { type: resetPeriod }),
      overageEnabled: t.exposeBoolean('overageEnabled'),
    }),
  })
  const packageDraft = builder.objectRef<PackageEdit>('PackageDraft').implement({
    fields: (t) => ({ name: t.exposeString('name'), grants: t.expose('features', { type: [grant] }) }),
  })
  builder.objectFields(catalogue.package, (t) => ({
    grants: t.field({
      type: [grant],
      description: 'What subscribers get of each feature.',
      resolve: (p: Package) => p.features,
    }),
    draft: t.field({
      type: packageDraft,
      nullable: true,
      description: 'Edits made since it was published; nobody gets them before it is published again.',
      resolve: (p: Package) => p.draft,
    }),
  }))

  const editPackageFeature = builder.inputType('EditPackageFeatureInput', {
    fields: (t) => ({ id: t.string({ required: true }), entitlement: t.field({ type: entitlement }) }),
  })
  const editPackageInput = builder.inputType('EditPackageInput', {
    fields: (t) => ({ name: t.string(), features: t.field({ type: [editPackageFeature] }) }),
  })

  return { ...catalogue, subscription, member, app, apiKey, createdApiKey, revokedApiKey, editPackageInput }
}

function defineQueries(builder: Builder<DashboardContext>, types: Types): void {
  builder.queryType({
    fields: (t) => {
      const appId = t.arg.string({ required: true })
      const id = t.arg.string({ required: true })
      return {
        me: t.field({
          type: types.member,
          nullable: true,
          description: 'Who has signed in; null: nobody.',
          resolve: (_, _args, { member }) => member,
        }),
        apps: t.field({ type: [types.app], resolve: (_, _args, context) => apps(signedIn(context)) }),
        apiKeys: t.field({
          type: [types.apiKey],
          args: { appId },
          resolve: (_, { appId }, context) => apiKeys(signedIn(context), appId),
        }),
        package: t.field({
          type: types.package,
          nullable: true,
          args: { appId, id },
          resolve: (_, { appId, id }, context) => dashboardPackage(signedIn(context), appId, id),
        }),
        packages: t.field({
          type: [types.package],
          args: { appId },
          resolve: (_, { appId }, context) => dashboardPackages(signedIn(context), appId),
        }),
      }
    },
  })
}

function defineMutations(builder: Builder<DashboardContext>, types: Types): void {
  builder.mutationType({
    fields: (t) => {
      const appId = t.arg.string({ required: true })
      const id = t.arg.string({ required: true })
      const name = t.arg.string({ required: true })
      const email = t.arg.string({ required: true })
      const password = t.arg.string({ required: true })
      return {
        signIn: t.field({
          type: types.member,
          nullable: true,
          args: { email, password },
          resolve: async (_, { email, password }, context) =>
            enter(context, await signIn(context.service, email, password)),
        }),
        setOwner: t.field({
          type: types.member,
          nullable: true,
          description: 'Makes the first member, with the token of the link that the first start printed.',
          args: { token: t.arg.string({ required: true }), email, password },
          resolve: async (_, { token, email, password }, context) =>
            enter(context, await setOwner(context.service, token, email, password)),
        }),
        signOut: t.boolean({ resolve: (_, _args, context) => leave(context) }),
        createApp: t.field({
          type: types.app,
          nullable: true,
          args: { id, name, testClock: t.arg.boolean({ defaultValue: false }) },
          resolve: (_, { id, name, testClock }, context) =>
            createApp(signedIn(context), id, name, testClock ?? false),
        }),
        advanceClock: t.field({
          type: types.app,
          nullable: true,
          args: { appId, to: t.arg.string({ required: true, description: 'ISO 8601; forward only.' }) },
          resolve: (_, { appId, to }, context) => advanceClock(signedIn(context), appId, to),
        }),
        setOrigins: t.field({
          type: types.app,
          nullable: true,
          args: { appId, origins: t.arg.stringList({ required: true }) },
          resolve: (_, { appId, origins }, context) => setOrigins(signedIn(context), appId, origins),
        }),
        createApiKey: t.field({
          type: types.createdApiKey,
          nullable: true,
          args: { appId, name },
          resolve: (_, { appId, name }, context) => createApiKey(signedIn(context), appId, name),
        }),
        revokeApiKey: t.field({
          type: types.revokedApiKey,
          nullable: true,
          args: { appId, id },
          resolve: (_, { appId, id }, context) => revokeApiKey(signedIn(context), appId, id),
        }),
        editPackage: t.field({
          type: types.package,
          nullable: true,
          args: { appId, id, input: t.arg({ type: types.editPackageInput, required: true }) },
          resolve: (_, { appId, id, input }, context) =>
            editPackage(signedIn(context), appId, id, {
              ...(input.name != null && { name: input.name }),
              ...(input.features && {
                features: input.features.map((f) => ({ id: f.id, entitlement: f.entitlement ?? {} })),
              }),
            }),
        }),
        publishPackage: t.field({
          type: types.package,
          nullable: true,
          args: { appId, id },
          resolve: (_, { appId, id }, context) => publishPackage(signedIn(context), appId, id),
        }),
        discardPackageDraft: t.field({
          type: types.package,
          nullable: true,
          args: { appId, id },
          resolve: (_, { appId, id }, context) => discardPackageDraft(signedIn(context), appId, id),
        }),
        cancelSubscription: t.field({
          type: types.subscription,
          nullable: true,
          args: { appId, id, atPeriodEnd: t.arg.boolean({ defaultValue: true }) },
          resolve: (_, { appId, id, atPeriodEnd }, context) =>
            cancelSubscription(signedIn(context), appId, id, atPeriodEnd ?? true),
        }),
      }
    },
  })
}

function enter(context: DashboardContext, { member, session }: SignedIn): Member {
  context.setSession(session)
  return member
}

async function leave(context: DashboardContext): Promise<boolean> {
  if (context.session !== null) await signOut(context.service, context.session)
  context.setSession(null)
  return true
}
