import pg from 'pg'
import { textArray } from '../../src/store/connection/arrays.ts'
import type { Statement } from './statements.ts'

/** One step of a plan that touches a table. */
export interface Access {
  node: string
  table: string
  index: string | null
  /** by what it is walked */
  condition: string
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

/** How PostgreSQL would execute a prepared statement with these values. */
export async function planOf(
  client: pg.ClientBase,
  { text, values }: Pick<Statement, 'text' | 'values'>,
): Promise<Access[]> {
  await client.query('deallocate all')
  await client.query(`prepare explained as ${text}`)
  const given = values.length > 0 ? `(${values.map(literal).join(', ')})` : ''
  const { rows } = await client.query(`explain (format json) execute explained${given}`)
  const root: PlanNode = rows[0]['QUERY PLAN'][0].Plan
  return accesses(root, null)
}

function accesses(node: PlanNode, outer: string | null): Access[] {
  const table = node['Relation Name'] ?? outer
  const own = /Scan/.test(node['Node Type']) && table !== null
  // The index of a bitmap scan stands one step below the table.
  const below = (node.Plans ?? []).flatMap((child) => accesses(child, own ? table : null))
  const index = node['Index Name'] ?? null
  const condition = node['Index Cond'] ?? ''
  return own ? [{ node: node['Node Type'], table, index, condition }, ...below] : below
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`
  const text = Array.isArray(value)
    ? textArray(value, (item) => (item === null ? null : String(item)))
    : value
  return pg.escapeLiteral(String(text))
}
