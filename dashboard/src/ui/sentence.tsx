import type { ReactNode } from 'react'
import { Fragment } from 'react'
import { AnchorLink } from './links.tsx'
import { When } from './when.tsx'

interface Subject {
  kind: 'USER' | 'FEATURE' | 'PACKAGE' | 'TEMPLATE' | 'APP' | 'MEMBER' | 'API_KEY' | 'IMPORT'
  appId: string | null
  id: string
}

export interface SentencePart {
  text: string
  subject: Subject | null
  at?: string | null
}

/** A sentence of the server's, with its names as links and its times in the reader's zone. */
export function Sentence({ parts }: { parts: readonly SentencePart[] }) {
  return parts.map((part, place) => (
    <Fragment key={place}>{part.at ? <When at={part.at} time /> : <Name {...part} />}</Fragment>
  ))
}

/** A name that leads to what it names, with the id as a tooltip; plain text if there is nothing to lead to. */
export function Name({ text, subject }: SentencePart) {
  return subject ? <SubjectLink subject={subject}>{text}</SubjectLink> : text
}

function SubjectLink({ subject: { kind, appId, id }, children }: { subject: Subject; children: ReactNode }) {
  const look = { inherit: true, underline: 'always', title: id, className: 'break' } as const
  const app = appId ?? ''
  switch (kind) {
    case 'USER':
      return (
        <AnchorLink {...look} to="/apps/$app/users/$id" params={{ app, id }}>
          {children}
        </AnchorLink>
      )
    case 'FEATURE':
      return (
        <AnchorLink {...look} to="/apps/$app/features/$id" params={{ app, id }}>
          {children}
        </AnchorLink>
      )
    case 'PACKAGE':
      return (
        <AnchorLink {...look} to="/apps/$app/packages/$id" params={{ app, id }}>
          {children}
        </AnchorLink>
      )
    case 'TEMPLATE':
      return (
        <AnchorLink
          {...look}
          to="/apps/$app/billing"
          params={{ app }}
          search={{ tab: 'templates', search: id }}
        >
          {children}
        </AnchorLink>
      )
    case 'API_KEY':
      return (
        <AnchorLink {...look} to="/apps/$app/keys" params={{ app }} search={{ search: id }}>
          {children}
        </AnchorLink>
      )
    case 'IMPORT':
      return (
        <AnchorLink {...look} to="/apps/$app/import" params={{ app }} search={{ id }}>
          {children}
        </AnchorLink>
      )
    case 'APP':
      return (
        <AnchorLink {...look} to="/apps/$app" params={{ app: id }}>
          {children}
        </AnchorLink>
      )
    case 'MEMBER':
      return (
        <AnchorLink {...look} to="/members" search={{ search: id }}>
          {children}
        </AnchorLink>
      )
  }
}
