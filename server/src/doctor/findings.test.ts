import { describe, expect, it } from 'vitest'
import { spaceResult } from './data-folder.ts'
import { clockSkew, connections, durability, schemaResult } from './database.ts'
import { checkMemory, checkNode, checkOpenFiles } from './host.ts'

const GB = 1024 ** 3

describe('a finding is', () => {
  it.each([
    ['24.1.0', 'ok'],
    ['20.19.0', 'ok'],
    ['20.18.3', 'problem'],
    ['18.20.0', 'problem'],
  ])('for Node.js %s: %s', (version, status) => {
    expect(checkNode(version).status).toBe(status)
  })

  it.each([
    [{ total: 8 * GB, free: 4 * GB, limit: 0 }, 'ok'],
    [{ total: 8 * GB, free: 4 * GB, limit: 2 ** 63 }, 'ok'],
    [{ total: 8 * GB, free: GB / 16, limit: 0 }, 'warning'],
    [{ total: 8 * GB, free: 4 * GB, limit: GB / 4 }, 'warning'],
    [{ total: GB / 4, free: GB / 5, limit: 0 }, 'warning'],
  ])('for the memory %j: %s', (memory, status) => {
    expect(checkMemory(memory).status).toBe(status)
  })

  it.each([
    ['Max open files            1024                 524288               files', 'warning'],
    ['Max open files            4096                 524288               files', 'ok'],
    ['Max open files            unlimited            unlimited            files', 'ok'],
  ])('for %j: %s', async (text, status) => {
    expect((await checkOpenFiles(async () => text)).status).toBe(status)
  })

  it('skipped for open files where there is no such list', async () => {
    expect((await checkOpenFiles(() => Promise.reject(new Error('ENOENT')))).status).toBe('skipped')
  })

  it.each([
    [0.1, 'problem'],
    [1, 'warning'],
    [3, 'ok'],
  ])('for %d GB of free space: %s', (free, status) => {
    expect(spaceResult(free * GB, 100 * GB).status).toBe(status)
  })

  it.each([
    [{}, 'ok', 'fsync'],
    [{ synchronousCommit: 'remote_apply' }, 'ok', 'remote_apply'],
    [{ synchronousCommit: 'local' }, 'ok', 'local'],
    [{ fsync: 'off' }, 'problem', 'fsync is off'],
    [{ fullPageWrites: 'off' }, 'problem', 'full_page_writes is off'],
    [{ synchronousCommit: 'off' }, 'problem', 'synchronous_commit is off'],
    [{ autovacuum: 'off' }, 'warning', 'autovacuum is off'],
  ])('for the settings %j: %s', (changed, status, text) => {
    const safe = { fsync: 'on', fullPageWrites: 'on', synchronousCommit: 'on', autovacuum: 'on' }
    const { message, ...result } = durability({ ...safe, ...changed })
    expect(result.status).toBe(status)
    expect(message).toContain(text)
    expect(result.fix === null).toBe(status === 'ok')
  })

  it.each([
    [100, 1, 'ok'],
    [30, 1, 'ok'],
    [29, 1, 'warning'],
    [100, 4, 'warning'],
  ])('for max_connections = %d and %d workers: %s', (maxConnections, workers, status) => {
    expect(connections({ maxConnections, connections: 5, reserved: 3 }, { workers }).status).toBe(status)
  })

  it.each([
    // The answer took a second, during which the database read its clock.
    [500, 'ok'],
    [-1_900, 'ok'],
    [2_900, 'ok'],
    [-2_100, 'warning'],
    [3_100, 'warning'],
    [-61_000, 'problem'],
    [62_000, 'problem'],
  ])('for a database clock at %d ms, asked at 0 and answered at 1,000: %s', (database, status) => {
    expect(clockSkew(database, 0, 1_000).status).toBe(status)
  })

  it.each([
    [null, 'ok'],
    [true, 'ok'],
    [false, 'warning'],
  ])('for a schema that is up to date (%s): %s', (migrated, status) => {
    expect(schemaResult(migrated).status).toBe(status)
  })
})
