import { Button, Group, Menu, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconBookmark, IconTrash } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Dialog } from './dialog.tsx'
import { notify } from './notify.tsx'
import { type SavedView, savedViews, saveViews } from './saved-views.ts'

/** Named filters and orders of a list, kept in this browser. Others get them by the address. */
export function SavedViews({ appId, list }: { appId: string; list: string }) {
  const { after, at, make, ...filters }: Record<string, unknown> = useSearch({ strict: false })
  const navigate = useNavigate()
  const [views, setViews] = useState(() => savedViews(appId, list))
  const [naming, setNaming] = useState(false)
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null) },
  })
  const keep = (views: SavedView[]) => {
    saveViews(appId, list, views)
    setViews(savedViews(appId, list))
  }
  const close = () => {
    form.reset()
    setNaming(false)
  }
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  return (
    <>
      <Menu position="bottom-start" withinPortal>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} aria-hidden />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.map(({ name, search }) => (
            <Menu.Item key={name} onClick={() => void navigate({ to: '.', search: search as never })}>
              {name}
            </Menu.Item>
          ))}
          {views.length > 0 && <Menu.Divider />}
          <Menu.Item disabled={!isFiltered} onClick={() => setNaming(true)}>
            Save this view
          </Menu.Item>
          {views.map(({ name }) => (
            <Menu.Item
              key={name}
              color="red"
              leftSection={<IconTrash size={14} aria-hidden />}
              onClick={() => {
                keep(views.filter((view) => view.name !== name))
                notify(`View ${name} deleted.`, () => keep(views))
              }}
            >
              Delete {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={naming} onClose={close} title="Save this view">
        <form
          onSubmit={form.onSubmit(({ name }) => {
            const view = { name: name.trim(), search: filters as SavedView['search'] }
            keep([...views.filter((one) => one.name !== view.name), view])
            notify(`View ${view.name} saved in this browser.`)
            close()
          })}
        >
          <TextInput label="Name" maxLength={60} data-autofocus {...form.getInputProps('name')} />
          <Group justify="flex-end" gap="xs" mt="md">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit">Save view</Button>
          </Group>
        </form>
      </Dialog>
    </>
  )
}
