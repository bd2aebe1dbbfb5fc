import { AnchorLink } from './links.tsx'

interface PackageLinkProps {
  appId: string
  id: string
  name: string | null | undefined
}

/** A package by name, with the id as a tooltip. */
export const PackageLink = ({ appId, id, name }: PackageLinkProps) => (
  <AnchorLink size="sm" to="/apps/$app/packages/$id" params={{ app: appId, id }} title={id}>
    {name ?? id}
  </AnchorLink>
)
