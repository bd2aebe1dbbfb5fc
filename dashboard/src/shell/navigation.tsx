import { Link } from '@tanstack/react-router'
import { DOCUMENTATION, PLACES } from './places.ts'
import classes from './shell.module.css'

export function Navigation({ app }: { app: string }) {
  return (
    <>
      {PLACES.map(({ title, places }) => (
        <div key={title}>
          {title !== '' && <div className={classes.group}>{title}</div>}
          <ul className={classes.list}>
            {places.map(({ label, to, icon: Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  params={{ app }}
                  className={classes.place}
                  activeOptions={{ exact: to === '/apps' || to === '/apps/$app', includeSearch: false }}
                  activeProps={{ 'aria-current': 'page' }}
                >
                  <Icon size={17} stroke={1.8} aria-hidden />
                  {label}
                </Link>
              </li>
            ))}
            {title === DOCUMENTATION.group && (
              <li>
                <a href={DOCUMENTATION.href} target="_blank" rel="noreferrer" className={classes.place}>
                  <DOCUMENTATION.icon size={17} stroke={1.8} aria-hidden />
                  {DOCUMENTATION.label}
                </a>
              </li>
            )}
          </ul>
        </div>
      ))}
    </>
  )
}
