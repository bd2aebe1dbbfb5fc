import { expect } from 'vitest'
import {
  MAX_AMOUNT,
  MAX_GRACE_DAYS,
  MAX_NOTICES,
  MAX_TRIAL_DAYS,
  MAX_URL_CHARACTERS,
} from '../../src/domain/limits.ts'
import { type Bound, expectRefusal, valueBound, type World } from './bound.ts'

const LINK = `mutation ($url: String!) {
  generateSubscriptionLink(templateId: "none", successUrl: $url, cancelUrl: "https://a.example") { url }
}`
const urlOf = (length: number) => 'https://a.example/'.padEnd(length, 'x')

export const billingBounds: Bound[] = [
  {
    limit: 'MAX_URL_CHARACTERS',
    what: 'where a payer is sent',
    // Then it is the template that is missing.
    works: async ({ admin }) =>
      expect((await admin.error(LINK, { url: urlOf(MAX_URL_CHARACTERS) })).extensions.code).toBe(
        'SUBSCRIPTION_LINK_ERROR',
      ),
    refused: async ({ admin }) =>
      expectRefusal(
        await admin.ask(LINK, { url: urlOf(MAX_URL_CHARACTERS + 1) }),
        /successUrl must be at most 2048 characters/,
      ),
  },
  valueBound(
    'MAX_GRACE_DAYS',
    'the days of grace',
    { within: MAX_GRACE_DAYS, beyond: MAX_GRACE_DAYS + 1 },
    ({ dashboard }, days) =>
      dashboard.ask('mutation ($days: Int!) { setGraceDays(appId: "default", days: $days) { graceDays } }', {
        days,
      }),
    /days must be from 0 to 365/,
  ),
  valueBound(
    'MAX_TRIAL_DAYS',
    'the trial of a payment link',
    { within: MAX_TRIAL_DAYS, beyond: MAX_TRIAL_DAYS + 1 },
    async ({ dashboard, admin, fresh }, trialDays) => {
      const id = fresh()
      await admin.call('createPackage', { input: { id, name: 'P' } })
      return dashboard.ask(
        `mutation ($id: String!, $trialDays: Int!) {
          createBillingTemplate(appId: "default", input: { id: $id, name: "T", packageIds: [$id], trialDays: $trialDays }) { id }
        }`,
        { id, trialDays },
      )
    },
    /trialDays must be from 1 to 730/,
  ),
  valueBound(
    'MAX_NOTICES',
    'a page of notices',
    { within: MAX_NOTICES, beyond: MAX_NOTICES + 1 },
    ({ dashboard }, first) =>
      dashboard.ask('query ($first: Int) { notices(appId: "default", first: $first) { id } }', { first }),
    /first must be from 0 to 200/,
  ),
  valueBound(
    'MAX_AMOUNT',
    'the amount of a price',
    { within: MAX_AMOUNT, beyond: MAX_AMOUNT + 1 },
    async ({ dashboard, admin, fresh }: World, amount) => {
      const id = fresh()
      await admin.call('createPackage', { input: { id, name: 'P' } })
      return dashboard.ask(
        `mutation ($id: String!, $amount: SafeInt!) {
          createPrice(appId: "default", packageId: $id, input: { amount: $amount, currency: "usd" }) { id }
        }`,
        { id, amount },
      )
    },
    /amount must be an integer number of minor units from 0 to 999999999999/,
  ),
  valueBound(
    'MAX_AMOUNT',
    'what the packages of a template cost together',
    { within: 1, beyond: 2 },
    async ({ dashboard, admin, fresh }: World, amount) => {
      const [plan, extra] = [fresh(), fresh()]
      await admin.data(
        `mutation ($plan: String!, $extra: String!) {
          plan: createPackage(input: { id: $plan, name: "P" }) { id }
          extra: createPackage(input: { id: $extra, name: "E", isAddon: true }) { id }
        }`,
        { plan, extra },
      )
      await dashboard.data(
        `mutation ($plan: String!, $extra: String!, $most: SafeInt!, $amount: SafeInt!) {
          plan: createPrice(appId: "default", packageId: $plan, input: { amount: $most, currency: "usd" }) { id }
          extra: createPrice(appId: "default", packageId: $extra, input: { amount: $amount, currency: "usd" }) { id }
        }`,
        { plan, extra, most: MAX_AMOUNT - 1, amount },
      )
      return dashboard.ask(
        `mutation ($id: String!, $packageIds: [String!]!) {
          createBillingTemplate(appId: "default", input: { id: $id, name: "T", packageIds: $packageIds }) { id }
        }`,
        { id: fresh(), packageIds: [plan, extra] },
      )
    },
    /The prices add up to more than 999999999999 minor units/,
  ),
]
