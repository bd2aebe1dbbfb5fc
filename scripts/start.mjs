// Everything from a fresh clone to a running service.
import { build, install } from './ready.mjs'

install()
build()
await import('../server/dist/main.js')
