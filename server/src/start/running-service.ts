import { existsSync } from 'node:fs'
import { StartError } from '../domain/errors.ts'
import { connectionToRunning } from '../embedded-postgres/start.ts'
import type { OwnerSetting } from '../operations/apps/first-start.ts'
import { type RecoveryOptions, type Secrets, secretsFor } from '../operations/apps/recovery.ts'
import type { Config } from '../settings/config.ts'
import { openToolPool } from '../store/connection/tool-connection.ts'
import { isMigrated } from '../store/schema/migrate.ts'
import { connectedServices } from '../store/schema/tables.ts'
import { openKeyring } from '../store/secrets/master-key.ts'

/** A started service, in this process or in workers. */
export interface RunningService {
  url: string
  /** printed once; empty for a worker, whose primary prints it */
  firstStart: Secrets
  owner: OwnerSetting
  /** Reports not ready for a while, so that clients go elsewhere before it stops. */
  drain(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** Handles the options while another process runs the service; null if none does. */
export async function recoverBesideRunning(
  config: Config,
  recovery: RecoveryOptions,
  clock: () => number,
): Promise<Secrets | null> {
  const { databaseUrl, databaseDirectUrl, dataDir } = config
  const running =
    databaseUrl === null
      ? existsSync(dataDir) && (await connectionToRunning(dataDir))
      : { connectionString: databaseDirectUrl ?? databaseUrl }
  if (!running) return null
  const pool =
    'connectionString' in running
      ? openToolPool(running, 'DATABASE_URL')
      : openToolPool({ ...running, ssl: false }, 'TOLLGATE_DATA_DIR')
  try {
    // The next start takes over a PostgreSQL that outlived its service.
    if ((await connectedServices(pool)) === 0) return null
    if (!(await isMigrated(pool))) {
      throw new StartError('The running service has an older version. Restart it first.')
    }
    const madeIn = databaseUrl === null ? dataDir : null
    const keyring = await openKeyring(pool, { ...config, madeIn }, () => {})
    return await secretsFor({ pool, keyring, clock }, recovery)
  } finally {
    await pool.end()
  }
}
