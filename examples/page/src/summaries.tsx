import { Gate, useTollgate, useUsage } from '@tollgate/sdk/react'
import { useState } from 'react'

export function Summaries() {
  return (
    <main>
      <h1>Summaries</h1>
      <Gate
        feature="summaries"
        pending={<p>One moment…</p>}
        fallback={<p>You have used all of this month’s summaries.</p>}
      >
        <Summarize />
      </Gate>
      <UsageBar />
    </main>
  )
}

function Summarize() {
  const tollgate = useTollgate()
  const [text, setText] = useState('')

  async function summarize() {
    const reply = await fetch('/api/summaries', { method: 'POST' })
    const { summary, message } = await reply.json()
    setText(summary ?? message)
    await tollgate.refresh()
  }

  return (
    <>
      <button type="button" onClick={summarize}>
        Summarize
      </button>
      <blockquote>{text}</blockquote>
    </>
  )
}

function UsageBar() {
  const { usage, remaining } = useUsage('summaries')
  if (!usage || usage.consumption.budget === null) return null
  const { used, budget } = usage.consumption
  return (
    <label>
      {used} of {budget} used, {remaining} left
      <progress value={used} max={budget} />
    </label>
  )
}
