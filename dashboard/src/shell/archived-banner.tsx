import { IconArchive } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { useApp } from '../api/use-account.ts'
import { AnchorLink } from '../ui/links.tsx'
import classes from './shell.module.css'

/** Says why nothing new can be added here. */
export function ArchivedBanner() {
  const app = useApp()
  const { app: id } = useParams({ strict: false })
  if (!app?.archivedAt || id === undefined) return null
  return (
    <div className={classes.clock}>
      <IconArchive size={16} aria-hidden />
      <span>{app.name} is archived. It accepts no new users or subscriptions.</span>
      <AnchorLink to="/apps" search={{ show: 'archived' }} c="inherit" size="sm" underline="always">
        Restore it
      </AnchorLink>
    </div>
  )
}
