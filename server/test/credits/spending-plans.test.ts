import { pino } from 'pino'
import { expect, it } from 'vitest'
import { openPool } from '../../src/store/connection/database.ts'
import { SPENDING_PARTS, spendingStatement } from '../../src/store/usage/write-spending.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import { directly } from '../harness/database.ts'
import { onCluster } from '../harness/one-server.ts'
import { planOf } from '../harness/plans.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { type Statement, watchStatements } from '../harness/statements.ts'

// While a table is small, PostgreSQL has no statistics of it: each of these plans then read every credit or reservation
// of an app, or of a user.

const server = shared(startTestServer)
const RESERVE = 'mutation { reserveUsage(input: { userId: "u", featureId: "tokens", amount: 10 }) { id } }'
const SETTLE = 'mutation ($id: String!) { settleReservation(id: $id, amount: 5) { state } }'
const RECORD = 'mutation { recordUsage(input: { userId: "u", featureId: "tokens", delta: 1 }) { recorded } }'

// Its own connection is in no cell.
it.skipIf(onCluster || TEST_CELLS > 1)(
  'decisions read only credits and reservations that they concern, also where there are no statistics',
  async () => {
    const { admin } = server
    const feature = { id: 'tokens', name: 'Tokens', type: 'CONSUMABLE' }
    await admin.data('mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id } }', {
      input: feature,
    })
    await admin.data('mutation { createUser(input: { id: "u" }) { id } }')
    const credit = { userId: 'u', featureId: 'tokens', amount: 1_000 }
    await admin.data('mutation ($input: CreditInput!) { addCredit(input: $input) { id } }', { input: credit })
    const sent = new Map<string, Statement>()
    const stop = watchStatements((statement) => {
      if (statement.name) sent.set(statement.name, statement)
      return undefined
    })
    const { reserveUsage } = await admin.data(RESERVE)
    // What another call changes is not remembered.
    await admin.data('mutation ($input: CreditInput!) { addCredit(input: $input) { id } }', { input: credit })
    await admin.data(SETTLE, { id: reserveUsage.id })
    await admin.data(RECORD)
    stop()

    const pool = openPool(
      { connectionString: directly(server.databaseUrl) },
      { max: 1, keyLookups: true },
      pino({ level: 'silent' }),
    )
    const connection = await pool.connect()
    const used = async (name: string) => {
      const statement = sent.get(name)
      if (!statement) throw new Error(`no ${name} was sent, but ${[...sent.keys()].join(', ')}`)
      const plan = await planOf(connection, statement)
      return plan
        .filter(({ table }) => table === 'credit' || table === 'usage_reservation')
        .map(({ index, condition }) => `${index}: ${condition.match(/\w+ (?=[=>])/g)?.join('')}`)
    }
    const byId = 'app_id id '
    const ofUser = 'user_uid feature_id '
    const read = [
      `credit_open: app_id ${ofUser}`,
      `credit_user: ${ofUser}`,
      `usage_reservation_held: app_id ${ofUser}expires_at `,
      'usage_reservation_drawn: app_id user_uid pool_id expires_at ',
    ]
    try {
      expect(await used('read-reservations')).toEqual([`usage_reservation_pkey: ${byId}`])
      expect(await used('read-spenders')).toEqual(read)
      expect(await used('write-spending-cl')).toEqual([`credit_pkey: ${byId}`])
      expect((await used('write-spending-r')).sort()).toEqual([
        `usage_reservation_pkey: ${byId}`,
        `usage_reservation_user: ${ofUser}`,
      ])
      expect((await used('write-spending-cls')).sort()).toEqual([
        `credit_pkey: ${byId}`,
        `usage_reservation_pkey: ${byId}`,
      ])
      // PostgreSQL accepts any combination of what a batch may write.
      for (let parts = 0; parts < 2 ** SPENDING_PARTS.length; parts++) {
        const text = spendingStatement(SPENDING_PARTS.filter((_, i) => parts & (1 << i)))
        await connection.query(`prepare combined as ${text}`)
        await connection.query('deallocate combined')
      }
    } finally {
      connection.release()
      await pool.end()
    }
  },
)
