// Prepares `npm pack --workspace server`: builds the server and puts the dashboard's pages beside it.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, install, root } from './ready.mjs'

install()
build()
const pages = join(root, 'server/dist/dashboard')
rmSync(pages, { recursive: true, force: true })
cpSync(join(root, 'dashboard/dist'), pages, { recursive: true })
