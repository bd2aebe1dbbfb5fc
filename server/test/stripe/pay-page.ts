import { pay } from './checkout-payment.ts'
import type { World } from './world.ts'

interface PageAnswer {
  status: number
  location?: string
  html?: string
}

/** The page that a session's `url` leads to: Pay and Cancel, and nothing else of Stripe's. */
export function payPage(world: World, method: string, path: string): PageAnswer | null {
  const [, id = '', action] = /^\/c\/pay\/([^/]+)(?:\/(pay|cancel))?$/.exec(path) ?? []
  const session = world.sessions.get(id)
  if (!session) return null
  if (method === 'POST' && action === 'pay') {
    if (session.status === 'open') pay(world, session, { email: 'payer@example.com', name: 'Pat Payer' })
    return { status: 303, location: session.success_url?.replace('{CHECKOUT_SESSION_ID}', id) ?? '/' }
  }
  if (method === 'POST' && action === 'cancel') return { status: 303, location: session.cancel_url ?? '/' }
  if (method !== 'GET' || action) return null
  const button = (name: string, text: string) =>
    `<form method="post" action="/c/pay/${id}/${name}"><button>${text}</button></form>`
  return {
    status: 200,
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Stripe stand-in</title>
<h1>${session.amount_total} ${session.currency}</h1><p>${session.status}</p>
${button('pay', 'Pay')}${button('cancel', 'Cancel')}</html>`,
  }
}
