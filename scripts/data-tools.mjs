// Backup, restore and move, from a fresh clone as well.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildServer, install, root } from './ready.mjs'

// Packages are never replaced under a service that may be running.
if (!existsSync(join(root, 'node_modules/pg'))) install()
buildServer()
await import('../server/dist/data-tools.js')
