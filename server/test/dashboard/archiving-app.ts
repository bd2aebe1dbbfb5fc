import { createUsers, publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { createApp, type TestServer } from '../harness/server.ts'

export interface ArchivingApp extends TestApp {
  /** A mutation of the dashboard on this app, written as `name(args)`. */
  change(call: string, selection?: string): Promise<Data>
  refusal(call: string, selection?: string): Promise<string>
}

let apps = 0
/** ann has `old`, which grants calls; `next` is another plan. */
export async function newArchivingApp(server: TestServer): Promise<ArchivingApp> {
  const id = `archiving-${++apps}`
  const app = { id, admin: await createApp(server, id), dashboard: server.dashboard.of(id) }
  await publishPackage(app, 'old', { calls: { limit: 10 } })
  await publishPackage(app, 'next', { seats: { limit: 1 } })
  await createUsers(app.admin, ['ann', 'bob'])
  await app.admin.data('mutation { subscribe(userId: "ann", packageIds: ["old"]) { id } }')
  const mutation = (call: string, selection: string) =>
    `mutation { ${call.replace('(', `(appId: "${id}", `)} ${selection} }`
  return {
    ...app,
    change: async (call, selection = '{ id }') =>
      Object.values(await app.dashboard.data(mutation(call, selection)))[0] as Data,
    refusal: async (call, selection = '{ id }') =>
      (await app.dashboard.error(mutation(call, selection))).message,
  }
}
