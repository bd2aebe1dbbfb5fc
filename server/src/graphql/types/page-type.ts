import type { KeyedPage } from '../../operations/call/pages.ts'
import type { DashboardContext } from '../dashboard/context.ts'
import type { Builder } from './builder.ts'

type ObjectRef<Row> = ReturnType<ReturnType<typeof refOf<Row>>['implement']>
const refOf = <Row>(builder: Builder<DashboardContext>, name: string) => builder.objectRef<Row>(name)

export function definePage<Row, Page extends KeyedPage<Row> = KeyedPage<Row>>(
  builder: Builder<DashboardContext>,
  name: string,
  row: ObjectRef<Row>,
) {
  return builder.objectRef<Page>(name).implement({
    fields: (t) => ({
      rows: t.field({ type: [row], resolve: (page) => page.rows }),
      next: t.string({
        nullable: true,
        description: 'Cursor for the next page, passed as `after`; null on the last page.',
        resolve: (page) => page.next,
      }),
    }),
  })
}
