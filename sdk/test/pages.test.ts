import { beforeAll, describe, expect, it } from 'vitest'
import { createUsers } from '../../server/test/harness/catalogue.ts'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { type PageSize, TollgateError } from '../src/node.ts'
import { type SdkApp, sdkApp } from './support/app.ts'
import { recordingFetch } from './support/recording-fetch.ts'

const server = shared(startTestServer)
let app: SdkApp
const USERS = ['ann', 'u1', 'u2', 'u3', 'u4', 'u5']
beforeAll(async () => {
  app = await sdkApp(server)
  await createUsers(app.admin, USERS.slice(1))
  const tollgate = app.tollgate()
  for (const userId of ['u1', 'u2']) await tollgate.subscribe({ userId, packageIds: ['plan'] })
  for (const id of ['f1', 'f2', 'f3']) await tollgate.createFeature({ id, name: id, type: 'BINARY' })
  for (const id of ['p1', 'p2', 'p3'])
    await tollgate.createPackage({ id, name: id, features: [{ id: 'f1' }] })
})

async function idsOf(entries: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of entries) ids.push(id)
  return ids
}

describe('a list read page by page', () => {
  it.each([
    [1, 7],
    [4, 2],
    [6, 2],
    [7, 1],
    [undefined, 1],
  ])('with a page size of %s: every entry once, in %i requests', async (pageSize, count) => {
    const { fetch, requests } = recordingFetch()
    expect(await idsOf(app.tollgate({ fetch }).allUsers({ pageSize }))).toEqual(USERS)
    expect(requests).toHaveLength(count)
  })

  it('is there for features, packages and subscriptions too, with what selects them', async () => {
    const tollgate = app.tollgate()
    const pages: PageSize = { pageSize: 2 }
    expect(await idsOf(tollgate.allFeatures(pages))).toEqual(['calls', 'f1', 'f2', 'f3'])
    expect(await idsOf(tollgate.allPackages(pages))).toEqual(['plan'])
    expect(await idsOf(tollgate.allPackages({ ...pages, status: 'DRAFT' }))).toEqual(['p1', 'p2', 'p3'])
    for await (const { features } of tollgate.allPackages({ status: 'DRAFT', includeFeatures: true }))
      expect(features).toMatchObject([{ id: 'f1' }])
    expect(await idsOf(tollgate.allSubscriptions(pages))).toHaveLength(3)
    for await (const { userId } of tollgate.allSubscriptions({ userId: 'u2' })) expect(userId).toBe('u2')
  })

  it('asks for no more once the loop is left', async () => {
    const { fetch, requests } = recordingFetch()
    for await (const { id } of app.tollgate({ fetch }).allUsers({ pageSize: 2 })) if (id === 'u2') break
    expect(requests).toHaveLength(2)
  })

  it('throws the error of a failed page, and honours the call’s options', async () => {
    const seen: string[] = []
    const onError = (error: TollgateError) => seen.push(error.code)
    const failing = app.tollgate({ apiKey: 'wrong', onError }).allUsers()
    await expect(failing.next()).rejects.toMatchObject({ name: 'AuthenticationError' })
    expect(seen).toEqual(['UNAUTHENTICATED'])
    const stopped = app.tollgate().allUsers({}, { signal: AbortSignal.abort() })
    await expect(stopped.next()).rejects.toMatchObject({ code: 'ABORTED' })
    const wrong = app.tollgate().allUsers({ pageSize: 0 }).next()
    await expect(wrong).rejects.toBeInstanceOf(TollgateError)
    await expect(wrong).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field: 'pageSize' })
  })
})
