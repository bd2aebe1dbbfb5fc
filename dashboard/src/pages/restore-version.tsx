import { graphql } from '../api/graphql.ts'
import { useChange } from '../api/use-api.ts'
import { type CatalogueFeature, type Grant, grantInput } from '../grants.ts'
import { Confirm } from '../ui/confirm.tsx'

const RESTORE = graphql(`
  mutation RestoreVersion($appId: String!, $id: String!, $input: EditPackageInput!) {
    editPackage(appId: $appId, id: $id, input: $input) { id }
  }
`)

interface RestoreVersionProps {
  appId: string
  packageId: string
  name: string
  hasDraft: boolean
  features: readonly CatalogueFeature[]
  version: { version: number; grants: readonly Grant[] }
  onRestored: () => void
  onClose: () => void
}

/** Makes an old version the draft of the package. Publishing it creates a new version. */
export function RestoreVersion(props: RestoreVersionProps) {
  const { appId, packageId, name, features, version } = props
  const restore = useChange(RESTORE, {
    said: `Version ${version.version} of ${name} restored as a draft.`,
    next: {
      label: 'Review and publish',
      to: { to: '/apps/$app/packages/$id/publish', params: { app: appId, id: packageId } },
    },
    done: () => {
      props.onClose()
      props.onRestored()
    },
  })
  return (
    <Confirm
      opened
      title={`Restore version ${version.version} of ${name}?`}
      submit="Restore as a draft"
      harmless={!props.hasDraft}
      busy={restore.isPending}
      error={restore.error}
      onConfirm={() =>
        restore.mutate({
          appId,
          id: packageId,
          input: { features: version.grants.map((grant) => grantInput(grant, features)) },
        })
      }
      onClose={props.onClose}
    >
      {props.hasDraft
        ? 'It replaces the current draft. Subscribers keep their version until you publish.'
        : 'Subscribers keep their version until you publish the draft.'}
    </Confirm>
  )
}
