import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** With the owners of its files, which the function of Node does not keep. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to])
}
