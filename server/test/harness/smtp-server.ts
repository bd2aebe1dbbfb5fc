import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface ReceivedMail {
  from: string
  to: string[]
  /** headers and text, as sent */
  content: string
}

/** A mail server on loopback that speaks SMTP and keeps what it receives. */
export async function startSmtpServer() {
  const received: ReceivedMail[] = []
  const sockets = new Set<Socket>()
  /** `refuse`: answers 451 to the content; `silent`: accepts connections and says nothing */
  const state = { mode: 'accept' as 'accept' | 'refuse' | 'silent', logins: [] as string[] }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    if (state.mode === 'silent') return
    talk(socket)
  })
  function talk(socket: Socket): void {
    let mail: ReceivedMail = { from: '', to: [], content: '' }
    let inContent = false
    let rest = ''
    const say = (line: string) => socket.write(`${line}\r\n`)
    const command = (line: string) => {
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'EHLO') socket.write('250-mail.test\r\n250 AUTH PLAIN\r\n')
      else if (verb === 'HELO') say('250 mail.test')
      else if (verb === 'AUTH') {
        state.logins.push(Buffer.from(line.split(' ')[2] ?? '', 'base64').toString())
        say('235 ok')
      } else if (verb === 'MAIL') {
        mail = { from: /<(.*)>/.exec(line)?.[1] ?? '', to: [], content: '' }
        say('250 ok')
      } else if (verb === 'RCPT') {
        mail.to.push(/<(.*)>/.exec(line)?.[1] ?? '')
        say('250 ok')
      } else if (verb === 'DATA') {
        inContent = true
        say('354 go on')
      } else if (verb === 'QUIT') {
        say('221 bye')
        socket.end()
      } else say('502 unknown')
    }
    socket.on('data', (chunk) => {
      rest += chunk
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const line = rest.slice(0, end)
        rest = rest.slice(end + 2)
        if (!inContent) command(line)
        else if (line === '.') {
          inContent = false
          if (state.mode === 'refuse') say('451 try again later')
          else {
            received.push(mail)
            say('250 queued')
          }
        } else mail.content += `${line.replace(/^\.\./, '.')}\r\n`
      }
    })
    say('220 mail.test ESMTP')
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    received,
    state,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The text of a mail, with soft line breaks and escapes of quoted-printable undone. */
export const textOf = ({ content }: ReceivedMail): string =>
  content
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
