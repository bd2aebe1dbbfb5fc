import { randomBytes } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { startService } from '../../src/service.ts'
import { readConfig } from '../../src/settings/config.ts'
import { REAL_CLOCKS } from '../harness/clocks.ts'
import { cleanUp, cleanups, usedDataDir } from '../harness/clusters.ts'
import { createDatabase, rowsOf } from '../harness/database.ts'
import { CHEAP_PASSWORDS } from '../harness/server.ts'

const newKey = () => randomBytes(32).toString('base64')

afterEach(cleanUp)

async function newDatabase(): Promise<string> {
  const { url, drop } = await createDatabase()
  cleanups.push(drop)
  return url
}

/** The log of a start, after stopping it again. */
async function startAndStop(env: Record<string, string>): Promise<string> {
  let said = ''
  const take = (line: string) => {
    said += line
  }
  const log = pino({ level: 'info' }, { write: take })
  const config = readConfig({ PORT: '0', ...env })
  const service = await startService(config, REAL_CLOCKS, log, { passwordCost: CHEAP_PASSWORDS })
  await service.stop()
  return said
}

interface Kept {
  name: string
  value: Buffer
}

const kept = (connectionString: string) =>
  rowsOf<Kept>({ connectionString }, 'select name, value from secret order by name')

const sealedWith = ({ value }: Kept) =>
  value.toString('latin1').startsWith('sealed1:') ? value.toString('latin1', 9, 9 + (value[8] ?? 0)) : null

describe('what secrets are sealed with', () => {
  it('a master key: nothing in the database opens them', async () => {
    const url = await newDatabase()
    await startAndStop({ DATABASE_URL: url, TOLLGATE_MASTER_KEY: `one:${newKey()}` })
    const secrets = await kept(url)
    expect(secrets.map(({ name }) => name)).toEqual([
      'owner-link',
      'provider-accounts',
      'sandbox',
      'webhook-endpoints',
    ])
    expect(new Set(secrets.map(sealedWith))).toEqual(new Set(['one']))
  })

  it('none is given with a database of one’s own: it works as before, and the start warns', async () => {
    const url = await newDatabase()
    expect(await startAndStop({ DATABASE_URL: url })).toContain('TOLLGATE_MASTER_KEY is not set')
    for (const { value } of await kept(url)) expect(value).toHaveLength(32)
  })

  it('one added later seals what is there, and a new one replaces it', async () => {
    const url = await newDatabase()
    await startAndStop({ DATABASE_URL: url })
    const [one, two] = [`one:${newKey()}`, `two:${newKey()}`]
    expect(await startAndStop({ DATABASE_URL: url, TOLLGATE_MASTER_KEY: one })).not.toContain('not set')
    const sealed = await kept(url)
    expect(new Set(sealed.map(sealedWith))).toEqual(new Set(['one']))
    // Known by both processes before either seals with it.
    await startAndStop({ DATABASE_URL: url, TOLLGATE_MASTER_KEY: `${one},${two}` })
    expect(await kept(url)).toEqual(sealed)
    await Promise.all(
      [1, 2].map(() => startAndStop({ DATABASE_URL: url, TOLLGATE_MASTER_KEY: `${two},${one}` })),
    )
    expect(new Set((await kept(url)).map(sealedWith))).toEqual(new Set(['two']))
    await startAndStop({ DATABASE_URL: url, TOLLGATE_MASTER_KEY: two })
    await expect(startAndStop({ DATABASE_URL: url, TOLLGATE_MASTER_KEY: one })).rejects.toThrow(
      /^The secrets in the database are encrypted with the master key "two", which is not configured\. .*$/,
    )
    await expect(startAndStop({ DATABASE_URL: url })).rejects.toThrow(/"two", which is not configured/)
    const wrong = `two:${newKey()}`
    await expect(startAndStop({ DATABASE_URL: url, TOLLGATE_MASTER_KEY: wrong })).rejects.toThrow(
      /^The master key "two" does not decrypt the secrets in the database\. .*$/,
    )
  })

  it('is generated beside the embedded database at the first start, for its user only, and never again', async () => {
    const dataDir = await usedDataDir()
    const env = { TOLLGATE_DATA_DIR: dataDir }
    const file = join(dataDir, 'master-key')
    expect((await startAndStop(env)).split('\n').filter((line) => line.includes(file))).toHaveLength(1)
    const { mode, uid } = await stat(file)
    expect([mode & 0o777, uid]).toEqual([0o600, process.getuid?.()])
    const made = await readFile(file, 'utf8')
    expect(await startAndStop(env)).not.toContain(file)
    expect(await readFile(file, 'utf8')).toBe(made)
    await writeFile(file, `${newKey()}\n`)
    await expect(startAndStop(env)).rejects.toThrow(/which is not configured/)
    const elsewhere = join(dataDir, 'elsewhere')
    await writeFile(elsewhere, `# moved\n${made}`, { mode: 0o600 })
    await startAndStop({ ...env, TOLLGATE_MASTER_KEY_FILE: elsewhere })
  })
})

describe('a master key is refused in one line that does not repeat it', () => {
  const good = newKey()
  it.each([
    ['too short', 'c2hvcnQ=', 'TOLLGATE_MASTER_KEY must be 32 bytes in hex or base64'],
    ['not encoded', 'correct horse battery staple', 'TOLLGATE_MASTER_KEY must be 32 bytes in hex or base64'],
    ['with a bad id', `a b:${good}`, 'an id has up to 32'],
    ['twice under one id', `a:${good},a:${newKey()}`, 'two keys with the same id'],
    ['nothing but commas', ',,', 'contains no key'],
  ])('%s', (_, TOLLGATE_MASTER_KEY, words) => {
    let said = ''
    try {
      readConfig({ TOLLGATE_MASTER_KEY })
    } catch (error) {
      said = (error as Error).message
    }
    expect(said).toContain(words)
    expect(said).not.toContain('\n')
    if (TOLLGATE_MASTER_KEY.length > 2) expect(said).not.toContain(TOLLGATE_MASTER_KEY)
  })

  it('beside a file', () => {
    expect(() => readConfig({ TOLLGATE_MASTER_KEY: good, TOLLGATE_MASTER_KEY_FILE: '/a' })).toThrow(
      'not both',
    )
  })
})
