import { createElement as h, type ReactNode, StrictMode } from 'react'
import type { TollgateClient } from '../../src/browser.ts'
import { Gate, TollgateProvider, useFeature, useTollgate, useUsage } from '../../src/react.ts'

/** A gate, a usage bar and a button that uses something, in StrictMode. */
export function App({
  client,
  onUse,
}: {
  client: TollgateClient
  onUse?: () => Promise<unknown>
}): ReactNode {
  const gate = h(Gate, {
    feature: 'calls',
    pending: h('i', { id: 'gate' }, 'pending'),
    fallback: h('i', { id: 'gate' }, 'closed'),
    children: h('i', { id: 'gate' }, 'open'),
  })
  return h(StrictMode, null, h(TollgateProvider, { client }, gate, h(Use, { onUse })))
}

function Use({ onUse }: { onUse: (() => Promise<unknown>) | undefined }): ReactNode {
  const client = useTollgate()
  const { access, check, error } = useFeature('calls', { delta: 2 })
  const { pending, usage, remaining } = useUsage('calls')
  const use = () => onUse?.().then(() => client.refresh())
  return h(
    'p',
    null,
    h('button', { type: 'button', id: 'use', onClick: use, disabled: !access }, String(access)),
    h('output', { id: 'usage' }, pending ? 'pending' : `${usage?.consumption.used} used, ${remaining} left`),
    h('output', { id: 'reason' }, check?.reasonCode ?? ''),
    h('output', { id: 'error' }, error?.name ?? ''),
  )
}
