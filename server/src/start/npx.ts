const LOOK_EVERY_MS = 250

/**
 * npx runs a command in a shell, and passes SIGTERM on to that shell alone, which ends and leaves the command running.
 * Calls `ended` when that has happened. Started in another way, the end of the parent means nothing.
 */
export function whenNpxEnds(env: Readonly<Record<string, string | undefined>>, ended: () => void): void {
  if (env.npm_command !== 'exec') return
  const shell = process.ppid
  const look = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(look)
    ended()
  }, LOOK_EVERY_MS)
  look.unref()
}
