// The least an HTTP server in Node can do with a request: read it, parse it, send a constant answer.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const answer = process.env.ANSWER ?? ''
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(answer),
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { query } = JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(typeof query === 'string' ? 200 : 400, headers).end(answer)
  })
})

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
