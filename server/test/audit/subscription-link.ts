import assert from 'node:assert/strict'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, LINK_ERROR, refuses, USER_NOT_FOUND } from './expect.ts'

const rule6 = section('spec §4 mutation rule 6')

const GENERATE = `mutation ($userId: String, $templateId: String!, $successUrl: String!, $cancelUrl: String!) {
  generateSubscriptionLink(userId: $userId, templateId: $templateId, successUrl: $successUrl, cancelUrl: $cancelUrl) {
    url
  }
}`

const input = () => ({
  templateId: newId('template'),
  successUrl: 'https://shop.example/paid?a=1',
  cancelUrl: 'http://localhost:3000/back',
})

const NOT_ABSOLUTE = [
  '/paid',
  'shop.example/paid',
  'ftp://shop.example',
  'javascript:alert(1)',
  'https://',
  '',
]

export const subscriptionLink: Audit[] = [
  rule6.withKey(
    'S4.M6.unknown-template',
    'A templateId that names no billing template returns a SubscriptionLinkError.',
    async ({ admin, app }) => {
      await refuses(admin, GENERATE, { ...input(), userId: await app.makeUser() }, LINK_ERROR)
    },
  ),
  rule6.withKey(
    'S4.M6.user-optional',
    'userId may be omitted or null: the template is still what is asked for.',
    async ({ admin }) => {
      await refuses(admin, GENERATE, input(), LINK_ERROR)
      await refuses(admin, GENERATE, { ...input(), userId: null }, LINK_ERROR)
    },
  ),
  rule6.withOwner(
    'S4.M6.package-is-no-template',
    'The id of a package is not the id of a template.',
    async ({ own }) => {
      await refuses(own.admin, GENERATE, { ...input(), templateId: await own.makePlan() }, LINK_ERROR)
    },
  ),
  section('spec §3 subscription status').withKey(
    'S3.S.link-does-not-subscribe',
    'Asking for a link subscribes nobody.',
    async ({ admin, app }) => {
      const userId = await app.makeUser()
      await admin.ask(GENERATE, { ...input(), userId })
      const { subscriptions } = await admin.data(`{ subscriptions(userId: "${userId}") { id } }`)
      assert.deepEqual(subscriptions, [])
    },
  ),
  section('gap: unknown ids').withKey(
    'G.LINK.user-not-found',
    'generateSubscriptionLink for an unknown user fails with USER_NOT_FOUND.',
    async ({ admin }) =>
      void (await refuses(admin, GENERATE, { ...input(), userId: newId('user') }, USER_NOT_FOUND)),
  ),
  ...(['successUrl', 'cancelUrl'] as const).map((field) =>
    section('gap: redirect URLs').withKey(
      `G.LINK.${field === 'successUrl' ? 'success-url' : 'cancel-url'}`,
      `${field} must be an absolute http or https URL.`,
      async ({ admin }) => {
        for (const url of NOT_ABSOLUTE) {
          const { message } = await refuses(admin, GENERATE, { ...input(), [field]: url }, BAD_USER_INPUT)
          assert.match(message, new RegExp(field))
        }
      },
    ),
  ),
]
