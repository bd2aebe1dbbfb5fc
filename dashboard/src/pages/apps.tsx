import { Button, Group, Modal, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ACCOUNT, type App } from '../api/session.ts'
import { useMay } from '../api/use-account.ts'
import { useAsk } from '../api/use-api.ts'
import { CopyCatalogueForm } from '../forms/copy-catalogue-form.tsx'
import { FormDialog } from '../forms/form-dialog.tsx'
import { MoveClock } from '../forms/move-clock.tsx'
import { NewAppForm } from '../forms/new-app-form.tsx'
import { OriginsForm } from '../forms/origins-form.tsx'
import { RenameAppForm } from '../forms/rename-app-form.tsx'
import { ButtonLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { Tag } from '../ui/tag.tsx'

type Open = { is: 'new' } | { is: 'clock' | 'origins' | 'rename'; id: string } | null

export function AppsPage() {
  const { copyTo, copyFrom, make } = useSearch({ from: '/inside/apps' })
  const navigate = useNavigate({ from: '/apps' })
  const may = useMay()
  const [open, setOpen] = useState<Open>(null)
  const close = () => {
    setOpen(null)
    if (make !== undefined) void navigate({ search: {} })
  }
  const asked = useAsk(ACCOUNT, {})
  const apps = asked.data?.apps ?? []
  const app = open && 'id' in open ? apps.find(({ id }) => id === open.id) : undefined
  const target = apps.find(({ id }) => id === copyTo)
  return (
    <Page
      title="Apps"
      about="Each has its own catalogue, users, keys and billing. Keep one for testing next to the live one."
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
      <Loaded of={asked}>
        {({ apps }) => (
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            {apps.map((app) => (
              <AppCard
                key={app.id}
                app={app}
                several={apps.length > 1}
                onOpen={(is) => setOpen({ is, id: app.id })}
              />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
      <FormDialog opened={open?.is === 'new' || make !== undefined} onClose={close} title="New app">
        <NewAppForm onDone={close} />
      </FormDialog>
      <Modal
        opened={open?.is === 'clock' && app !== undefined}
        onClose={close}
        title={`Clock of ${app?.name}`}
      >
        {app && <MoveClock app={app} />}
      </Modal>
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
      <Modal
        opened={target !== undefined}
        onClose={() => void navigate({ search: {} })}
        size="xl"
        title={`Copy a catalogue to ${target?.name}`}
      >
        {target && (
          <CopyCatalogueForm
            to={target}
            from={copyFrom ?? null}
            apps={apps.filter(({ id }) => id !== target.id)}
            onFrom={(copyFrom) => void navigate({ search: { copyTo: target.id, copyFrom }, replace: true })}
            onDone={() => void navigate({ search: {} })}
          />
        )}
      </Modal>
    </Page>
  )
}

interface AppCardProps {
  app: App
  several: boolean
  onOpen: (is: 'clock' | 'origins' | 'rename') => void
}

function AppCard({ app, several, onOpen }: AppCardProps) {
  const may = useMay()
  return (
    <Paper p="md" radius="md">
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <div>
            <Title order={2}>
              <Link to="/apps/$app" params={{ app: app.id }} className="row-link">
                {app.name}
              </Link>
            </Title>
            <Text size="xs" c="dimmed" ff="monospace" className="break">
              {app.id}
            </Text>
          </div>
          {app.testClock ? <Tag tone="warn">Test clock</Tag> : <Tag tone="good">Real time</Tag>}
        </Group>
        <Text size="sm" c="dimmed">
          {app.origins.length === 0
            ? 'No allowed origins: browsers cannot use the client API yet.'
            : `Allowed origins: ${app.origins.join(', ')}`}
        </Text>
        <Group gap="xs">
          {app.testClock && (
            <Button variant="default" size="xs" onClick={() => onOpen('clock')}>
              Move the clock
            </Button>
          )}
          <Button variant="default" size="xs" onClick={() => onOpen('origins')} disabled={!may('setOrigins')}>
            Allowed origins
          </Button>
          {several && (
            <ButtonLink variant="default" size="xs" to="/apps" search={{ copyTo: app.id }}>
              Copy a catalogue here
            </ButtonLink>
          )}
          <Button variant="default" size="xs" onClick={() => onOpen('rename')} disabled={!may('renameApp')}>
            Rename
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
