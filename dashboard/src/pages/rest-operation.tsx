import { Code, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import {
  type OpenApi,
  type Operation,
  type Parameter,
  type Schema,
  shared,
  typeName,
} from '../api/openapi.ts'
import { CodeBlock } from '../ui/code-block.tsx'
import { DataTable } from '../ui/data-table.tsx'

interface OperationProps {
  document: OpenApi
  method: string
  path: string
  operation: Operation
}

interface Field {
  name: string
  type: string
  description: string
}

/** One route: what it takes, what it answers, and a command to try it with. */
export function RestOperation({ document, method, path, operation }: OperationProps) {
  const parameters = (operation.parameters ?? []).map((one) => shared(document, 'parameters', one))
  const body = operation.requestBody?.content['application/json']?.schema
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))
  const answer = success && shared(document, 'responses', success[1]).content['application/json']?.schema
  const problems = Object.entries(operation.responses)
    .filter(([status]) => !status.startsWith('2'))
    .map(([status, one]) => ({ status, text: shared(document, 'responses', one).description }))
  const scope = operation['x-tollgate-scope']
  return (
    <Stack gap="md">
      {operation.description && <Text>{operation.description}</Text>}
      <Text size="sm" c="dimmed">
        <Code>{operation.operationId}</Code> in GraphQL.{' '}
        {scope === 'ANY' ? 'Any API key.' : `Requires an API key with the scope ${scope}.`}
      </Text>
      <Fields title="Parameters" label={`Parameters of ${path}`} fields={parameters.map(parameterField)} />
      {body && <Fields title="Body" label={`Body of ${path}`} fields={fieldsOf(document, body)} />}
      {answer && (
        <Fields
          title={`Answer ${success[0]}: ${typeName(answer)}`}
          label={`Answer of ${path}`}
          fields={fieldsOf(document, answer)}
        />
      )}
      <Section title="Errors">
        {problems.map(({ status, text }) => (
          <Text key={status} size="sm">
            {status} {text}
          </Text>
        ))}
      </Section>
      <CodeBlock label="Command" text={curl(document, method, path, parameters, body)} />
    </Stack>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Title order={4} size="h6" mb="xs">
        {title}
      </Title>
      {children}
    </div>
  )
}

function Fields({ title, label, fields }: { title: string; label: string; fields: Field[] }) {
  if (fields.length === 0) return null
  return (
    <Section title={title}>
      <DataTable
        label={label}
        rows={fields}
        keyOf={({ name }) => name}
        columns={[
          { label: 'Name', cell: ({ name }) => <Code>{name}</Code> },
          { label: 'Type', cell: ({ type }) => type },
          { label: 'Description', cell: ({ description }) => description, wide: true },
        ]}
      />
    </Section>
  )
}

function parameterField({ name, in: place, required, description = '', schema }: Parameter): Field {
  const text = place === 'header' ? `Header. ${description}` : description
  return { name, type: typeText(schema, required ?? false), description: text }
}

function fieldsOf(document: OpenApi, schema: Schema): Field[] {
  const { properties = {}, required = [] } = shared(document, 'schemas', schema)
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: typeText(property, required.includes(name)),
    description: property.description ?? '',
  }))
}

function typeText(schema: Schema, required: boolean): string {
  const standard = schema.default === undefined ? '' : `, default ${String(schema.default)}`
  return `${typeName(schema)}${required ? '' : ', optional'}${standard}`
}

/** A command with a value for everything that is required. */
function curl(
  document: OpenApi,
  method: string,
  path: string,
  parameters: readonly Parameter[],
  body: Schema | undefined,
): string {
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name }) => `${name}=…`)
    .join('&')
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "${window.location.origin}${path}${query && `?${query}`}"`,
    '  -H "Authorization: Bearer $TOLLGATE_API_KEY"',
  ]
  if (body)
    lines.push("  -H 'Content-Type: application/json'", `  -d '${JSON.stringify(sample(document, body))}'`)
  return lines.join(' \\\n')
}

function sample(document: OpenApi, schema: Schema): unknown {
  const { type, enum: values, properties = {}, required = [], items } = shared(document, 'schemas', schema)
  if (values) return values[0]
  if (type === 'array') return [sample(document, items ?? {})]
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  if (type !== 'object') return '…'
  return Object.fromEntries(required.map((name) => [name, sample(document, properties[name] ?? {})]))
}
