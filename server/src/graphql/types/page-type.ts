import type { KeyedPage } from '../../operations/call/pages.ts'
import type { DashboardContext } from '../dashboard/context.ts'
import type { Builder } from './builder.ts'

type ObjectRef<Row> = ReturnType<ReturnType<typeof refOf<Row>>['implement']>
const refOf = <Row>(builder: Builder<DashboardContext>, name: string) => builder.objectRef<Row>(name)

/** The type of a page of rows. */
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
        description: 'Passed as after, it leads to the next page; null: that was all.',
        resolve: (page) => page.next,
      }),
    }),
  })
}
