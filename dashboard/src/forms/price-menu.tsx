import { useClipboard } from '@mantine/hooks'
import { useMay } from '../api/use-account.ts'
import { MoreMenu } from '../ui/more-menu.tsx'
import { notify } from '../ui/notify.tsx'
import { type Money, priceText } from '../ui/price.ts'

interface PriceMenuProps {
  price: Money & { id: string; interval: string | null; archivedAt: string | null; isDefault?: boolean }
  /** absent: its kind of price has no default */
  onDefault?: () => void
  onArchive: () => void
  onRestore: () => void
}

/** What can be done with a price, in its row. */
export function PriceMenu({ price, onDefault, onArchive, onRestore }: PriceMenuProps) {
  const may = useMay()
  const { copy } = useClipboard()
  const { id, archivedAt } = price
  return (
    <MoreMenu
      label={`Actions for ${priceText(price)}`}
      size="sm"
      actions={[
        {
          label: 'Copy id',
          onClick: () => {
            copy(id)
            notify(`Id of ${priceText(price)} copied.`)
          },
        },
        ...(onDefault && archivedAt === null && !price.isDefault
          ? [{ label: 'Make default', onClick: onDefault, disabled: !may('setDefaultPrice') }]
          : []),
        archivedAt === null
          ? { label: 'Archive', onClick: onArchive, disabled: !may('archivePrice') }
          : { label: 'Restore', onClick: onRestore, disabled: !may('archivePrice') },
      ]}
    />
  )
}
