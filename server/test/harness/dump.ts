import pg from 'pg'

/** All rows of all tables of a database, as text: what a dump of it would contain. The cells' are taken together. */
export async function dump(databaseUrl: string): Promise<Map<string, string[]>> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    await client.query('begin transaction isolation level repeatable read, read only')
    const tables = await client.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`,
    )
    const rows = new Map<string, string[]>()
    for (const { name } of tables.rows) {
      const found = await client.query<{ row: string }>(`select t::text as row from ${name} t`)
      const common = name.replace(/^(public|c\d+)\./, '')
      rows.set(common, [...(rows.get(common) ?? []), ...found.rows.map(({ row }) => row)])
    }
    return rows
  } finally {
    await client.end()
  }
}

/** Where a text occurs, also written as bytes: the tables, and the rows. */
export function tablesWith(rows: ReadonlyMap<string, readonly string[]>, text: string): string[] {
  const forms = [text, Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64')]
  return [...rows]
    .filter(([, all]) => all.some((row) => forms.some((form) => row.includes(form))))
    .map(([name]) => name)
}
