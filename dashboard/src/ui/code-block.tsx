import classes from './code-block.module.css'
import { CopyIcon } from './copy-icon.tsx'

/** Lines to copy. `label` says to a screen reader what they are. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <figure className={classes.block} aria-label={label} style={{ marginInline: 0, marginBlock: 0 }}>
      <pre className={classes.text}>{text}</pre>
      <div className={classes.copy}>
        <CopyIcon text={text} label={`Copy: ${label}`} />
      </div>
    </figure>
  )
}
