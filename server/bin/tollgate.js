#!/usr/bin/env node
// Plain JavaScript that old versions of Node can run, so that they say what is missing instead of failing to parse.
const NEEDED = [20, 19]

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  console.error(
    `tollgate: Node.js ${NEEDED.join('.')} or later is required; this is ${process.versions.node}. Install a newer version from https://nodejs.org.`,
  )
  process.exitCode = 1
} else {
  import('../dist/cli.js')
}
