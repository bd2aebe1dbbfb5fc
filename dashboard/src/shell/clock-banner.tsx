import { IconClock } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { useApp } from '../api/use-account.ts'
import { AnchorLink } from '../ui/links.tsx'
import { When } from '../ui/when.tsx'
import classes from './shell.module.css'

/** Shows the time of an app with a test clock: its dates make no sense otherwise. */
export function ClockBanner() {
  const app = useApp()
  const { app: id } = useParams({ strict: false })
  if (!app?.testClock || id === undefined) return null
  return (
    <div className={classes.clock}>
      <IconClock size={16} aria-hidden />
      <span>
        {app.name} runs on a test clock: it is{' '}
        <strong>
          <When at={app.now} time />
        </strong>
      </span>
      <AnchorLink to="/apps" c="inherit" size="sm" underline="always">
        Move the clock
      </AnchorLink>
    </div>
  )
}
