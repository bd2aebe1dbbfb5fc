import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { endResponse } from './body.ts'

/** The page behind the link that the first start prints: it sets the owner. */
export function answerSetupPage(request: IncomingMessage, response: ServerResponse): void {
  const nonce = randomBytes(16).toString('base64')
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  })
  endResponse(request, response, page(nonce))
}

const page = (nonce: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Set up Tollgate</title>
<style nonce="${nonce}">
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 24rem; margin: 15vh auto 0; padding: 0 1rem }
  label { display: block; margin-top: 1rem }
  input, button { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; margin-top: .25rem }
  button { margin-top: 1.5rem }
</style>
<main>
  <h1>Set up Tollgate</h1>
  <p>You become the owner of this installation.</p>
  <form>
    <label>Email <input name="email" type="email" autocomplete="username" required autofocus></label>
    <label>Password, at least 8 characters
      <input name="password" type="password" autocomplete="new-password" minlength="8" required></label>
    <button>Become the owner</button>
  </form>
  <p role="status"></p>
</main>
<script nonce="${nonce}">
  const form = document.querySelector('form')
  const status = document.querySelector('[role=status]')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const { email, password } = Object.fromEntries(new FormData(form))
    const token = new URLSearchParams(location.search).get('token') ?? ''
    const query = 'mutation ($token: String!, $email: String!, $password: String!) {' +
      ' setOwner(token: $token, email: $email, password: $password) { email } }'
    try {
      const response = await fetch('/dashboard/graphql', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ query, variables: { token, email, password } }),
      })
      const { errors } = await response.json()
      status.textContent = errors ? errors[0].message : 'You are the owner, and signed in.'
      form.hidden = !errors
    } catch {
      status.textContent = 'The service does not answer. Try again in a moment.'
    }
  })
</script>
</html>
`
