import { ANY_USER, FEATURE, userId } from './seed.ts'
import { API_KEY, type Server } from './server.ts'

/** A request as an application sends it: one document text, and variables that change from call to call. */
export interface Request {
  /** with one @ per digit where a number goes */
  body: string
  headers: Readonly<Record<string, string>>
  /** contained in every correct answer */
  expect: string
}

const CHECK_DOCUMENT = `query CanUse($userId: String!, $featureId: String!) {
  canUseFeature(userId: $userId, featureId: $featureId) {
    access
    reason
    consumption { budget used overageEnabled }
  }
}`

const RECORD_DOCUMENT = `mutation Record($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason }
}`

export const CHECK = request(
  CHECK_DOCUMENT,
  { userId: userId(ANY_USER), featureId: FEATURE },
  '"access":true',
)
export const RECORD = request(
  RECORD_DOCUMENT,
  { input: { userId: userId(ANY_USER), featureId: FEATURE, delta: 1 } },
  '"recorded":true',
)

/** The same check in REST, which answers with all fields. */
export const REST_CHECK: Request = {
  body: JSON.stringify({ userId: userId(ANY_USER), featureId: FEATURE }),
  headers: { Authorization: API_KEY },
  expect: '"access":true',
}

/** `variables` travels as a string, the form that the API's specification gives. */
function request(query: string, variables: object, expect: string): Request {
  const body = JSON.stringify({ query, variables: JSON.stringify(variables) })
  return { body, headers: { Authorization: API_KEY }, expect }
}

/** The placeholder that a load generator replaces with a number. */
export function markIn({ body }: Request): string {
  const mark = /@@+/.exec(body)?.[0]
  if (mark === undefined) throw new Error(`no place for a number in ${body}`)
  return mark
}

/** The text of one answer, after checking it. */
export async function sampleAnswer(server: Server, { body, expect }: Request, user: number): Promise<string> {
  const response = await server.admin.post(body.replace(ANY_USER, userId(user).slice(-ANY_USER.length)))
  const text = await response.text()
  if (response.status !== 200 || !text.includes(expect)) {
    throw new Error(
      `expected ${expect} for ${userId(user)}, and got ${response.status} ${text.slice(0, 500)}`,
    )
  }
  return text
}

/** Only correct answers are worth measuring: a recorded call must show in the next check. */
export async function verifyAnswers(server: Server, users: number): Promise<void> {
  const used = async (user: number): Promise<number> =>
    JSON.parse(await sampleAnswer(server, CHECK, user)).data.canUseFeature.consumption.used
  for (let i = 0; i < 20; i++) {
    const user = 1 + Math.floor(Math.random() * users)
    const before = await used(user)
    await sampleAnswer(server, RECORD, user)
    const after = await used(user)
    if (after !== before + 1) throw new Error(`${userId(user)} recorded 1 on ${before} and then had ${after}`)
  }
}
