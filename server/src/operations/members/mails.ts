import type { Role } from '../../domain/role.ts'
import type { MailMessage, Service } from '../call/service.ts'

// E-mails to members. A link is a secret: it is sent to the address that it is for, and nowhere else.

/** How long a request waits for the mail server. */
const REQUEST_MAIL_MS = 8_000

interface MailedLink {
  email: string
  url: string
  expiresAt: number
}

export const memberLink = ({ billing }: Pick<Service, 'billing'>, page: 'invite' | 'reset', token: string) =>
  `${billing.publicUrl()}/${page}#token=${token}`

export const invitationMail = (
  { email, url, expiresAt }: MailedLink,
  invitedBy: string,
  role: Role,
): MailMessage => ({
  to: email,
  subject: 'You are invited to Tollgate',
  text: paragraphs(
    `${invitedBy} invited you to Tollgate as ${role === 'VIEWER' ? 'a viewer' : role === 'EDITOR' ? 'an editor' : 'an owner'}.`,
    `Set a password to accept:\n${url}`,
    `The link can be used once and expires on ${utc(expiresAt)}. If you did not expect this invitation, ignore this email.`,
  ),
})

export const resetMail = ({ email, url, expiresAt }: MailedLink): MailMessage => ({
  to: email,
  subject: 'Reset your Tollgate password',
  text: paragraphs(
    `A password reset was requested for ${email}.`,
    `Set a new password:\n${url}`,
    `The link can be used once and expires on ${utc(expiresAt)}. Setting a new password signs you out everywhere. If you did not request this, ignore this email: your password stays as it is.`,
  ),
})

/**
 * Sends an e-mail within a request, which waits for a bounded time. Null: e-mail is not set up. False: it could not be
 * sent; the reason is logged, and the link can still be sent by other means.
 */
export async function mailed({ mail, log }: Service, message: MailMessage): Promise<boolean | null> {
  if (!mail) return null
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the mail server did not answer in time')), REQUEST_MAIL_MS)
  })
  try {
    await Promise.race([mail.send(message), late])
    return true
  } catch (error) {
    log.warn({ err: error }, 'an email could not be sent')
    return false
  } finally {
    clearTimeout(timer)
  }
}

const paragraphs = (...texts: string[]): string => `${texts.join('\n\n')}\n`

const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
