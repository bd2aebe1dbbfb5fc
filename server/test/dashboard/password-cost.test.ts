import { randomBytes, scryptSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { dashboardClient, signedIn } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { OWNER, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

/** 128 MiB for each guess: what OWASP's cheat sheet on storing passwords says of scrypt. */
const RECOMMENDED = /^\$scrypt\$ln=17,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{86}$/

const server = shared(() => startTestServer({ passwordCost: { ln: 17, r: 8, p: 1 } }))

async function storedHash(): Promise<string | undefined> {
  const sql = 'select password_hash as hash from member where email = $1'
  const [row] = await rowsOf<{ hash: string }>({ connectionString: server.databaseUrl }, sql, [OWNER.email])
  return row?.hash
}

async function store(hash: string): Promise<void> {
  const sql = 'update member set password_hash = $2 where email = $1'
  await rowsOf({ connectionString: server.databaseUrl }, sql, [OWNER.email, hash])
}

describe('what a guess at a password costs', () => {
  it('is the current recommendation, and is named in the hash', async () => {
    expect(await storedHash()).toMatch(RECOMMENDED)
  })

  it('is raised at the next sign-in where the hash was made at a lower cost', async () => {
    const salt = randomBytes(16)
    const hash = scryptSync(OWNER.password, salt, 64, { N: 2 ** 12, r: 8, p: 1 })
    const old = `$scrypt$ln=12,r=8,p=1$${salt.toString('base64')}$${hash.toString('base64')}`
    await store(old)
    const wrong = `mutation { signIn(email: "${OWNER.email}", password: "not this one") { email } }`
    expect((await dashboardClient(server.url).error(wrong)).extensions.code).toBe('UNAUTHENTICATED')
    expect(await storedHash()).toBe(old)
    await signedIn(server.url, OWNER)
    const raised = await storedHash()
    expect(raised).toMatch(RECOMMENDED)
    await signedIn(server.url, OWNER)
    expect(await storedHash()).toBe(raised)
  })
})
