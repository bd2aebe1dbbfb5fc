// Backup, restore, move, the ledger and cells; also works from a fresh clone.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build, install, root } from './ready.mjs'

// Never reinstalls packages: a service may be running on them.
if (!existsSync(join(root, 'node_modules/pg'))) install()
build(['server'])
await import('../server/dist/data-tools.js')
