import { AnchorLink } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'

export function NotFound() {
  return (
    <Page
      title="There is no such page"
      about="The address may be wrong, or what it led to has another id now."
    >
      <div>
        <AnchorLink to="/">To the dashboard</AnchorLink>
      </div>
    </Page>
  )
}
