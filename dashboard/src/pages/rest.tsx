import '@mantine/core/styles/Accordion.css'
import { Accordion, Anchor, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type OpenApi, type Operation, useOpenapi } from '../api/openapi.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import { SearchInput } from '../ui/search-input.tsx'
import { Tag, type Tone } from '../ui/tag.tsx'
import { RestOperation } from './rest-operation.tsx'

interface Route {
  method: string
  path: string
  operation: Operation
}

const TONES: Record<string, Tone> = { GET: 'accent', DELETE: 'bad' }

/** The REST API, from the document that the service serves. */
export function RestPage() {
  const { route, search = '' } = useSearch({ from: '/inside/apps/$app/rest' })
  const navigate = useNavigate({ from: '/apps/$app/rest' })
  const document = useOpenapi()
  const about = (
    <>
      Every operation of the Admin API as a REST route, with the same API keys. For tools and generated
      clients:{' '}
      <Anchor href="/v1/openapi.json" target="_blank" underline="always" inherit>
        openapi.json
      </Anchor>
      .
    </>
  )
  return (
    <Page title="REST" about={about}>
      <SearchInput
        label="Search routes"
        value={search}
        onSearch={(text) => void navigate({ search: text === '' ? {} : { search: text }, replace: true })}
      />
      <Loaded of={document}>
        {(found) => (
          <Groups
            document={found}
            search={search.toLowerCase()}
            open={route ?? null}
            onOpen={(id) =>
              void navigate({
                search: { ...(search && { search }), ...(id !== null && { route: id }) },
                replace: true,
                resetScroll: false,
              })
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

interface GroupsProps {
  document: OpenApi
  search: string
  open: string | null
  onOpen: (id: string | null) => void
}

function Groups({ document, search, open, onOpen }: GroupsProps) {
  const routes = routesOf(document).filter(({ method, path, operation }) =>
    `${method} ${path} ${operation.operationId} ${operation.summary}`.toLowerCase().includes(search),
  )
  if (routes.length === 0) return <Text c="dimmed">No matching routes.</Text>
  return (
    <Stack gap="xl">
      {document.tags.map(({ name }) => {
        const group = routes.filter(({ operation }) => operation.tags.includes(name))
        return (
          group.length > 0 && (
            <section key={name} aria-label={name}>
              <Title order={2} size="h4" mb="xs">
                {name}
              </Title>
              <Accordion variant="contained" radius="md" order={3} value={open} onChange={onOpen}>
                {group.map(({ method, path, operation }) => (
                  <Accordion.Item key={operation.operationId} value={operation.operationId}>
                    <Accordion.Control>
                      <Group gap="sm">
                        <Tag tone={TONES[method] ?? 'good'}>{method}</Tag>
                        <Code className="break" fz="sm" bg="transparent">
                          {path}
                        </Code>
                        <Text c="dimmed" size="sm">
                          {operation.summary}
                        </Text>
                      </Group>
                    </Accordion.Control>
                    <Accordion.Panel>
                      {open === operation.operationId && (
                        <RestOperation
                          document={document}
                          method={method}
                          path={path}
                          operation={operation}
                        />
                      )}
                    </Accordion.Panel>
                  </Accordion.Item>
                ))}
              </Accordion>
            </section>
          )
        )
      })}
    </Stack>
  )
}

const routesOf = ({ paths }: OpenApi): Route[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
