import { type Kysely, sql } from 'kysely'

/** Partitions of ledgers on other servers can be retired: entries that come late are refused there. See `store/cells/remote-cells.ts`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string; definition: string }>`
    select quote_ident(schema) as schema,
      pg_get_functiondef((quote_ident(schema) || '.write_usage')::regproc) as definition
    from cell where remote`.execute(db)
  for (const { schema, definition } of rows) {
    const check = `
  if exists (select 1 from ${schema}.ledger_partition p
      where p.retiring_at is not null and p.block in (e_seq[1] >> 40, e_seq[cardinality(e_seq)] >> 40)) then
    raise serialization_failure using message = 'the partition of the ledger is being retired';
  end if;
end `
    await sql.raw(definition.replace(/\nend (?=\$function\$\s*$)/, () => check)).execute(db)
  }
}
