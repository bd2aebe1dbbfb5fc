import { Button, SimpleGrid } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ACCOUNT } from '../api/session.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { ArchiveApp } from '../forms/archive-app.tsx'
import { CopyCatalogueForm } from '../forms/copy-catalogue-form.tsx'
import { DeleteApp } from '../forms/delete-app.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { MoveClock } from '../forms/move-clock.tsx'
import { NewAppForm } from '../forms/new-app-form.tsx'
import { OriginsForm } from '../forms/origins-form.tsx'
import { RenameAppForm } from '../forms/rename-app-form.tsx'
import { ArchivedFilter } from '../ui/archived-filter.tsx'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { SkeletonCards } from '../ui/skeletons.tsx'
import { AppCard, type AppDialog } from './app-card.tsx'

type Open = { is: 'new' } | { is: AppDialog; id: string } | null

/** While rows go in the background. */
const PROGRESS_MS = 2_000

export function AppsPage() {
  const { copyTo, copyFrom, make, show } = useSearch({ from: '/inside/apps' })
  const navigate = useNavigate({ from: '/apps' })
  const may = useMay()
  const [open, setOpen] = useState<Open>(null)
  const close = () => {
    setOpen(null)
    if (make !== undefined) void navigate({ search: {} })
  }
  const known = useAsk(ACCOUNT, {})
  const deleting = known.data?.apps.some(({ deletion }) => deletion !== null) ?? false
  const asked = useAsk(ACCOUNT, {}, { refetchInterval: deleting && PROGRESS_MS })
  const apps = asked.data?.apps ?? []
  const app = open && 'id' in open ? apps.find(({ id }) => id === open.id) : undefined
  const inUse = apps.filter(({ archivedAt }) => archivedAt === null)
  const target = apps.find(({ id }) => id === copyTo)
  return (
    <Page
      title="Apps"
      about="Each app has its own catalogue, users, keys and billing. Keep a separate one for testing."
      actions={
        <Button
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setOpen({ is: 'new' })}
          disabled={!may('createApp')}
        >
          New app
        </Button>
      }
    >
      <Loaded of={asked} skeleton={<SkeletonCards cards={2} cols={{ base: 1, md: 2 }} height={186} />}>
        {({ apps }) => {
          const archived = show === 'archived'
          const shown = apps.filter(({ archivedAt }) => (archivedAt !== null) === archived)
          return (
            <>
              {(archived || inUse.length < apps.length) && (
                <ArchivedFilter
                  archived={archived}
                  onChange={(archived) => void navigate({ search: archived ? { show: 'archived' } : {} })}
                />
              )}
              {shown.length === 0 && <Empty title="No archived apps">Archived apps appear here.</Empty>}
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                {shown.map((app) => (
                  <AppCard
                    key={app.id}
                    app={app}
                    several={inUse.length > 1}
                    onOpen={(is) => setOpen({ is, id: app.id })}
                  />
                ))}
              </SimpleGrid>
            </>
          )
        }}
      </Loaded>
      <FormDialog opened={open?.is === 'new' || make !== undefined} onClose={close} title="New app">
        <NewAppForm onDone={close} />
      </FormDialog>
      <FormDialog
        opened={open?.is === 'clock' && app !== undefined}
        onClose={close}
        title={`Clock of ${app?.name}`}
      >
        {app && <MoveClock app={app} />}
      </FormDialog>
      <ArchiveApp app={open?.is === 'archive' ? app : undefined} onClose={close} />
      <DeleteApp app={open?.is === 'delete' ? app : undefined} onClose={close} />
      <FormDialog
        opened={open?.is === 'origins' && app !== undefined}
        onClose={close}
        title={`Allowed origins of ${app?.name}`}
      >
        {app && <OriginsForm app={app} onDone={close} />}
      </FormDialog>
      <FormDialog
        opened={open?.is === 'rename' && app !== undefined}
        onClose={close}
        title={`Rename ${app?.name}`}
      >
        {app && <RenameAppForm app={app} onDone={close} />}
      </FormDialog>
      <FormDialog
        opened={target !== undefined}
        onClose={() => void navigate({ search: {} })}
        size="xl"
        title={`Copy a catalogue to ${target?.name}`}
      >
        {target && (
          <CopyCatalogueForm
            to={target}
            from={copyFrom ?? null}
            apps={inUse.filter(({ id }) => id !== target.id)}
            onDone={() => void navigate({ search: {} })}
          />
        )}
      </FormDialog>
    </Page>
  )
}
