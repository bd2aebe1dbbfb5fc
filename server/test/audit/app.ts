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
    const createFeature = await this.admin.call('createFeature { id }', {
      input: { id: newId('feature'), name: 'Feature', type: 'CONSUMABLE', ...input },
    })
    return createFeature.id
  }

  /** A package as the API leaves it: DRAFT. */
  async makeDraft(features: Grant[] = [], input: Variables = {}): Promise<string> {
    const createPackage = await this.admin.call('createPackage { id }', {
      input: { id: newId('package'), name: 'Package', features, ...input },
    })
    return createPackage.id
  }

  async makeUser(input: Variables = {}): Promise<string> {
    return (await this.admin.call('createUser { id }', { input: { id: newId('user'), ...input } })).id
  }

  async subscribe(userId: string, ...packageIds: string[]): Promise<Data[]> {
    return this.admin.call(
      'subscribe { id userId status package { id } metadata startedAt cancelAt cancelledAt }',
      { userId, packageIds },
    )
  }

  async canUseFeature(userId: string, featureId: string, delta?: number): Promise<Data> {
    return this.admin.call(
      'canUseFeature { access reason reasonCode consumption { budget used overageEnabled } }',
      { userId, featureId, ...(delta !== undefined && { delta }) },
    )
  }

  async recordUsage(userId: string, featureId: string, delta: number, action?: string): Promise<Data> {
    return this.admin.call('recordUsage { recorded reason consumption { budget used overageEnabled } }', {
      input: { userId, featureId, delta, ...(action !== undefined && { action }) },
    })
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
    return this.admin.call(
      'subscription { id userId status package { id name status isAddon } metadata startedAt cancelAt cancelledAt }',
      { id },
    )
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
    return this.dashboard.call('publishPackage { id status }', { appId: this.id, id: packageId })
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
    return this.dashboard.call('cancelSubscription { id status cancelAt }', {
      appId: this.id,
      id: subscriptionId,
      atPeriodEnd,
    })
  }

  async advanceTo(time: string): Promise<void> {
    await this.dashboard.call('advanceClock', { appId: this.id, to: time })
  }
}
