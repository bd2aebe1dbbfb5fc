import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type OpenApi, pythonClient } from '../../../scripts/python-client.ts'
import { createUsers, newTestApp } from '../harness/catalogue.ts'
import { OPENAPI_FILE, PYTHON_FILE } from '../harness/schemas.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { ROOT } from '../harness/source-files.ts'

const FOLDER = join(ROOT, 'examples/python')
const server = shared(startTestServer)

const hasPython = (() => {
  try {
    execFileSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 8))'])
    return true
  } catch {
    return false
  }
})()
const title = (what: string) =>
  hasPython ? what : `${what} (not run: there is no Python 3.8 on this machine)`

/** What a program prints. */
async function python(args: string[], env: Record<string, string>): Promise<string> {
  const options = { cwd: FOLDER, env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...env } }
  return (await promisify(execFile)('python3', args, options)).stdout
}

describe('gap: REST: the Python client', () => {
  it('is what `npm run schema` generates', () => {
    const document = JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')) as OpenApi
    expect(pythonClient(document)).toBe(readFileSync(PYTHON_FILE, 'utf8'))
  })

  it.skipIf(!hasPython)(title('runs the quick start, twice'), async () => {
    const { admin } = await newTestApp(server)
    const env = { TOLLGATE_URL: server.url, TOLLGATE_API_KEY: admin.headers.Authorization ?? '' }
    const printed = [
      '1 more: True (WITHIN_BUDGET)',
      '2 more: False (LIMIT_EXCEEDED)',
      'users: ada/1',
      '404 USER_NOT_FOUND: User not found: "nobody"',
      '',
    ].join('\n')
    expect(await python(['quickstart.py'], env)).toBe(printed)
    await createUsers(admin, ['bob', 'cid'])
    expect(await python(['quickstart.py'], env)).toBe(printed.replace('ada/1\n', 'ada/1, bob, cid\n'))
    const { user, exported } = await admin.data(
      `{ user(id: "ada/1") { metadata } exported: exportUser(id: "ada/1") }`,
    )
    expect(user.metadata).toEqual({ team: 'maths' })
    expect(exported).toBeTruthy()
  })

  it.skipIf(!hasPython)(title('sends null and omits what is not given'), async () => {
    const { admin } = await newTestApp(server)
    const env = { TOLLGATE_URL: server.url, TOLLGATE_API_KEY: admin.headers.Authorization ?? '' }
    const program = `
from tollgate import Tollgate, TollgateError
import os
client = Tollgate(os.environ["TOLLGATE_URL"], os.environ["TOLLGATE_API_KEY"])
client.create_user(id="a", name="A", metadata={"x": [1, None]}, request_key="k")
client.create_user(id="a", name="A", metadata={"x": [1, None]}, request_key="k")
print(client.update_user(id="a", new_id="b")["name"])
print(client.update_user(id="b", name=None)["name"])
print(client.packages(status="DRAFT"), client.delete_user(id="b"))
try:
    client.can_use_feature(user_id="b", feature_id=5)
except TollgateError as error:
    print(error.code, error.field, error.request_id != "")
`
    expect(await python(['-c', program], env)).toBe(
      "A\nNone\n{'data': [], 'next': None} {'id': 'b'}\nBAD_USER_INPUT featureId True\n",
    )
  })
})
