import { checkEmail } from '../domain/email.ts'
import { quote, StartError } from '../domain/errors.ts'
import { parseUrl } from '../domain/url.ts'

/** How the service sends e-mails. */
export interface MailSettings {
  /** smtp://USER:PASSWORD@HOST:PORT, or smtps:// */
  url: string
  /** an address, or "Name <address>" */
  from: string
}

/** Null: no e-mails are sent. */
export function readMail(set: (name: string) => string | null): MailSettings | null {
  const [url, from] = [set('TOLLGATE_SMTP_URL'), set('TOLLGATE_MAIL_FROM')]
  if (url === null && from === null) return null
  if (url === null || from === null)
    throw new StartError('Set both TOLLGATE_SMTP_URL and TOLLGATE_MAIL_FROM, or neither.')
  const parsed = parseUrl(url)
  // It may contain a password, so it is not repeated.
  if (!parsed || !/^smtps?:$/.test(parsed.protocol) || parsed.hostname === '')
    throw new StartError(
      'TOLLGATE_SMTP_URL must be an smtp or smtps URL, such as smtps://user:password@smtp.example.com:465.',
    )
  const address = /^[^<>\r\n]*<([^<>]+)>$/.exec(from)?.[1] ?? from
  try {
    checkEmail(address)
  } catch {
    throw new StartError(
      `TOLLGATE_MAIL_FROM must be an email address, such as Tollgate <tollgate@example.com>; it is ${quote(from)}.`,
    )
  }
  if (set('TOLLGATE_PUBLIC_URL') === null)
    throw new StartError('TOLLGATE_SMTP_URL requires TOLLGATE_PUBLIC_URL, the base of the links in e-mails.')
  return { url, from }
}
