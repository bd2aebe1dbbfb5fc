import { access, constants, mkdir } from 'node:fs/promises'
import { StartError } from '../domain/errors.ts'

export async function makeDataFolder(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true }).catch(({ code }) => {
    throw new StartError(
      `The data folder ${dataDir} cannot be created (${code}). Set TOLLGATE_DATA_DIR to a writable folder.`,
    )
  })
}

/** Every start writes to the folder: without permission it would fail halfway. */
export async function checkWritable(dataDir: string): Promise<void> {
  await access(dataDir, constants.W_OK).catch(({ code }) => {
    throw new StartError(
      `The data folder ${dataDir} is not writable (${code}). Change its permissions, or set TOLLGATE_DATA_DIR to a writable folder.`,
    )
  })
}
