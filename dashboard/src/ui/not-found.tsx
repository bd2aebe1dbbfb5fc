import { Group } from '@mantine/core'
import { AnchorLink } from './links.tsx'
import { Page } from './page.tsx'

/** For an address that leads to nothing. `data` is what the service said about it, if it was asked. */
export function NotFound({ data }: { data?: unknown }) {
  return (
    <Page
      title="Page not found"
      about={
        typeof data === 'string'
          ? `${data} It may have been deleted or renamed.`
          : 'There is nothing at this address.'
      }
    >
      <Group>
        <AnchorLink to="/">Go to Home</AnchorLink>
        <AnchorLink to="/apps">All apps</AnchorLink>
      </Group>
    </Page>
  )
}
