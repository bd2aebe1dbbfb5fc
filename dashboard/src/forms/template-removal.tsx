import { useState } from 'react'
import { graphql } from '../api/graphql.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk, useChange } from '../api/use-api.ts'
import { units } from '../ui/number.ts'
import { Removal, type RemovalStep } from './removal.tsx'

const USE = graphql(`
  query BillingTemplateUse($appId: String!, $id: String!) {
    billingTemplateUse(appId: $appId, id: $id) { links refusal }
  }
`)
const ARCHIVE = graphql(`
  mutation ArchiveBillingTemplate($appId: String!, $id: String!, $archived: Boolean!) {
    archiveBillingTemplate(appId: $appId, id: $id, archived: $archived) { id }
  }
`)
const DELETE = graphql(`
  mutation DeleteBillingTemplate($appId: String!, $id: String!) {
    deleteBillingTemplate(appId: $appId, id: $id) { id }
  }
`)

interface TemplateRemovalProps {
  appId: string
  template: { id: string; name: string; archived: boolean }
  onDeleted?: () => void
}

export function TemplateRemoval({ appId, template, onDeleted }: TemplateRemovalProps) {
  const { id, name, archived } = template
  const may = useMay()
  const [step, setStep] = useState<RemovalStep>(null)
  const close = () => setStep(null)
  const use = useAsk(USE, { appId, id }, { enabled: step !== null })
  const back = useChange(ARCHIVE, { said: `${name} is as it was.` })
  const archive = useChange(ARCHIVE, {
    done: close,
    said: archived ? `${name} is back.` : `${name} is archived.`,
    undo:
      (_, { archived }) =>
      () =>
        back.mutate({ appId, id, archived: !archived }),
  })
  const remove = useChange(DELETE, {
    done: () => {
      close()
      onDeleted?.()
    },
    said: `${name} is deleted.`,
  })
  return (
    <Removal
      what="template"
      name={name}
      archived={archived}
      step={step}
      onStep={setStep}
      use={use}
      refusal={({ billingTemplateUse: found }) => found?.refusal ?? null}
      effects={({ billingTemplateUse: found }) => (found ? effectsOf(found) : [])}
      mayArchive={may('archiveBillingTemplate')}
      mayDelete={may('deleteBillingTemplate')}
      busy={archive.isPending || remove.isPending}
      error={archive.error ?? back.error ?? remove.error}
      onArchive={(archived) => archive.mutate({ appId, id, archived })}
      onDelete={() => remove.mutate({ appId, id })}
    />
  )
}

const effectsOf = ({ links }: { links: number }) => [
  'No payment link can be made of it.',
  ...(links > 0
    ? [`${units(links, 'link that was made of it stays', 'links that were made of it stay')} as they are.`]
    : []),
  'You can bring it back at any time.',
]
