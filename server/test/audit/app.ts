import { randomBytes } from 'node:crypto'
import type { Client, Data, Variables } from '../harness/client.ts'

/** An id that nothing has yet: audits share a database, with each other and with whoever else uses it. */
export const newId = (kind: string): string => `audit-${kind}-${randomBytes(8).toString('hex')}`

export interface Entitlement {
  limit?: number | null
  resetPeriod?: string
  overageEnabled?: boolean
}

export interface Grant {
  id: string
  entitlement?: Entitlement
}

const PERIOD = 'periodStart periodEnd consumption { budget used overageEnabled }'

/** Short ways to do with an app what most audits do first. Each throws when the service refuses. */
export class App {
  readonly admin: Client

  constructor(admin: Client) {
    this.admin = admin
  }

  async makeFeature(input: Variables = {}): Promise<string> {
    const { createFeature } = await this.admin.data(
      'mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id } }',
      { input: { id: newId('feature'), name: 'Feature', type: 'CONSUMABLE', ...input } },
    )
    return createFeature.id
  }

  /** A package as the API leaves it: DRAFT. */
  async makeDraft(features: Grant[] = [], input: Variables = {}): Promise<string> {
    const { createPackage } = await this.admin.data(
      'mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }',
      { input: { id: newId('package'), name: 'Package', features, ...input } },
    )
    return createPackage.id
  }

  async makeUser(input: Variables = {}): Promise<string> {
    const { createUser } = await this.admin.data(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }',
      { input: { id: newId('user'), ...input } },
    )
    return createUser.id
  }

  async subscribe(userId: string, ...packageIds: string[]): Promise<Data[]> {
    const { subscribe } = await this.admin.data(
      `mutation ($userId: String!, $packageIds: [String!]!) {
        subscribe(userId: $userId, packageIds: $packageIds) {
          id userId status package { id } metadata startedAt cancelAt cancelledAt
        }
      }`,
      { userId, packageIds },
    )
    return subscribe
  }

  async canUseFeature(userId: string, featureId: string, delta?: number): Promise<Data> {
    const { canUseFeature } = await this.admin.data(
      `query ($userId: String!, $featureId: String!, $delta: Int) {
        canUseFeature(userId: $userId, featureId: $featureId, delta: $delta) {
          access reason reasonCode consumption { budget used overageEnabled }
        }
      }`,
      { userId, featureId, ...(delta !== undefined && { delta }) },
    )
    return canUseFeature
  }

  async recordUsage(userId: string, featureId: string, delta: number, action?: string): Promise<Data> {
    const { recordUsage } = await this.admin.data(
      `mutation ($input: CreateUsageEventInput!) {
        recordUsage(input: $input) { recorded reason consumption { budget used overageEnabled } }
      }`,
      { input: { userId, featureId, delta, ...(action !== undefined && { action }) } },
    )
    return recordUsage
  }

  async showUsage(userId: string, featureId: string): Promise<Data> {
    const { showUsage } = await this.admin.data(
      `query ($userId: String!, $featureId: String!) {
        showUsage(userId: $userId, featureId: $featureId) { current { ${PERIOD} } past { ${PERIOD} } }
      }`,
      { userId, featureId },
    )
    return showUsage
  }

  /** What has been used in this period, as a gate would see it. */
  async used(userId: string, featureId: string): Promise<number> {
    return (await this.canUseFeature(userId, featureId)).consumption.used
  }

  async subscription(id: string): Promise<Data> {
    const { subscription } = await this.admin.data(
      `query ($id: String!) {
        subscription(id: $id) {
          id userId status package { id name status isAddon } metadata startedAt cancelAt cancelledAt
        }
      }`,
      { id },
    )
    return subscription
  }
}

/** An app that the audit made for itself, and whose dashboard it may use. */
export class OwnApp extends App {
  readonly id: string
  readonly dashboard: Client

  constructor(id: string, admin: Client, dashboard: Client) {
    super(admin)
    this.id = id
    this.dashboard = dashboard
  }

  async publish(packageId: string): Promise<Data> {
    const { publishPackage } = await this.dashboard.data(
      'mutation ($appId: String!, $id: String!) { publishPackage(appId: $appId, id: $id) { id status } }',
      { appId: this.id, id: packageId },
    )
    return publishPackage
  }

  /** A published base plan. */
  async makePlan(...features: Grant[]): Promise<string> {
    const id = await this.makeDraft(features)
    await this.publish(id)
    return id
  }

  /** A published add-on. */
  async makeAddon(...features: Grant[]): Promise<string> {
    const id = await this.makeDraft(features, { isAddon: true })
    await this.publish(id)
    return id
  }

  /** A user whose base plan grants one consumable feature. */
  async makeSubscriber(entitlement: Entitlement = {}) {
    const featureId = await this.makeFeature()
    const planId = await this.makePlan({ id: featureId, entitlement })
    const userId = await this.makeUser()
    const [subscription] = await this.subscribe(userId, planId)
    return { featureId, planId, userId, subscriptionId: String(subscription?.id) }
  }

  async cancel(subscriptionId: string, atPeriodEnd: boolean): Promise<Data> {
    const { cancelSubscription } = await this.dashboard.data(
      `mutation ($appId: String!, $id: String!, $atPeriodEnd: Boolean) {
        cancelSubscription(appId: $appId, id: $id, atPeriodEnd: $atPeriodEnd) { id status cancelAt }
      }`,
      { appId: this.id, id: subscriptionId, atPeriodEnd },
    )
    return cancelSubscription
  }

  async advanceTo(time: string): Promise<void> {
    await this.dashboard.data(
      'mutation ($appId: String!, $to: String!) { advanceClock(appId: $appId, to: $to) { id } }',
      { appId: this.id, to: time },
    )
  }
}
