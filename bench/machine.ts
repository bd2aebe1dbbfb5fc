import { statfs } from 'node:fs/promises'
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os'

const TMPFS = 0x01021994

/** Null on a quiet machine; otherwise why measuring now is unreliable. Call before loading it. */
export function busyWarning(): string | null {
  const load = loadavg()[0] ?? 0
  const cores = availableParallelism()
  if (load <= cores / 2) return null
  return `the machine was busy with other work at the start (load ${load.toFixed(1)} on ${cores} cores): CPU is shared out by process, so a side with many processes, such as pgbench, gets more of it than the server does, and no ratio here is to be relied on`
}

/** What the figures depend on and the reader cannot see, as [what, value]. */
export async function machineFacts(
  dataDir: string,
  parts: { postgres: string; load: string; pgbench: string | null },
): Promise<[string, string][]> {
  const model = cpus()[0]?.model.trim()
  const { type } = await statfs(dataDir)
  return [
    ['cores', `${availableParallelism()} (${arch()}${model && model !== 'unknown' ? `, ${model}` : ''})`],
    ['memory', `${(totalmem() / 2 ** 30).toFixed(0)} GB`],
    ['kernel', `${platform()} ${release()}`],
    ['data folder', type === TMPFS ? 'in memory (tmpfs): a commit waits for no disk' : 'on disk, fsync on'],
    ['Node', process.version],
    ['PostgreSQL', `${parts.postgres}, embedded, settings as shipped but for max_connections`],
    ['load generator', parts.load],
    ['pgbench', parts.pgbench ?? 'not installed'],
  ]
}
