// Everything from a fresh clone to a running service. What it imports statically runs on old versions of Node too.
import cluster from 'node:cluster'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build, buildDocsBeside, install, requireNode, root } from './ready.mjs'

requireNode()

// With options, a service may be running on these packages: they are not replaced under it.
if (process.argv.length === 2 || !existsSync(join(root, 'node_modules/pg'))) install()
build(['server', 'dashboard'])
// Loading takes a second or more, and nothing is logged before that.
if (process.stdout.isTTY) console.log('Starting Tollgate…')
await import('../server/dist/main.js')
// It takes longer than everything before it, and nobody waits for it: later, so that it does not slow down the start.
if (cluster.isPrimary) setTimeout(buildDocsBeside, 10_000).unref()
