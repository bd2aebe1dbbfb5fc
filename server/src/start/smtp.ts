import { privateNetworkOf } from '../domain/public-address.ts'
import type { Mail } from '../operations/call/service.ts'
import type { MailSettings } from '../settings/mail-settings.ts'

const STEP_MS = 5_000
const IDLE_MS = 10_000

/** Sends e-mails by SMTP, one connection each. The library is loaded for the first one. */
export function openMail({ url, from }: MailSettings): Mail {
  const { hostname, username } = new URL(url)
  return {
    async send(message) {
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        url,
        // A password is sent over TLS only, except within this machine.
        requireTLS: username !== '' && !isThisMachine(hostname),
        dnsTimeout: STEP_MS,
        connectionTimeout: STEP_MS,
        greetingTimeout: STEP_MS,
        socketTimeout: IDLE_MS,
        // Texts are our own: nothing is read from files or URLs.
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      try {
        await transport.sendMail({ from, ...message })
      } finally {
        transport.close()
      }
    },
  }
}

const isThisMachine = (hostname: string): boolean =>
  hostname === 'localhost' || privateNetworkOf(hostname.replace(/^\[|\]$/g, '')) === 'loopback'
