import type { Tx } from '../connection/database.ts'
import type { PlaceLayout } from '../connection/places.ts'
import { enrolEach, type Stranger } from './enrol.ts'
import type { Question } from './holding-questions.ts'
import { type Holding, readHoldings } from './read-holdings.ts'
import type { SpendingMove } from './spending-move.ts'
import type { CounterMove, MadeMoves, Receipt } from './usage-moves.ts'
import { writeSpending } from './write-spending.ts'
import { writeUsage } from './write-usage.ts'

/** The statements of the hot paths, wherever users are. */
export interface UsageStore {
  /** Users whose calls never wait for those of others, since they are on another server; null: all the rest. */
  queueOf(layout: PlaceLayout | null, appId: string, userId: string): string | null

  /** One holding per question, in order. An app that does not exist leaves a hole. */
  holdings(client: Tx, questions: readonly Question[], how: UsageOptions): Promise<(Holding | undefined)[]>

  /**
   * Makes the moves whose basis and counter are still as they were read; returns whether all were made. `made` gets those that
   * were: once, or several times where they are in several places, of which a later one may fail. The first time, the
   * other receipts are written too.
   */
  write(
    client: Tx,
    moves: readonly CounterMove[],
    receipts: readonly Receipt[],
    made: (moves: MadeMoves) => void,
    how: UsageOptions,
  ): Promise<boolean>

  /** Makes each move whose spender and counters are still as they were read; returns those that were made. */
  spend(client: Tx, moves: readonly SpendingMove[], how: UsageOptions): Promise<ReadonlySet<SpendingMove>>

  /** Enrols these users, so that their decisions about spending have a row that guards them. */
  enrol(client: Tx, strangers: readonly Stranger[], how: UsageOptions): Promise<void>

  /** Whether a statement may have failed because users are not where the layout says. */
  isOutdated(client: Tx, error: unknown): Promise<boolean>
}

export interface UsageOptions {
  /** whether the connection is in a transaction, in the place of the user */
  inTransaction?: boolean
  /** Returns what to do after moves on another server, in their transaction; it throws if they must be undone. */
  confirming?: (moves: readonly CounterMove[]) => (() => Promise<void>) | null
}

/** All users in one schema. */
export const ONE_PLACE_USAGE: UsageStore = {
  queueOf: () => null,
  holdings: readHoldings,
  async write(client, moves, receipts, made) {
    const done = await writeUsage(client, moves, receipts)
    made(done)
    return done.size === moves.length
  },
  spend: writeSpending,
  enrol: enrolEach,
  isOutdated: async () => false,
}

/** The same; `burnt` is called after credits were used. */
export function noticingBurns(store: UsageStore, burnt: (move: SpendingMove) => void): UsageStore {
  return {
    queueOf: (layout, appId, userId) => store.queueOf(layout, appId, userId),
    holdings: (client, questions, how) => store.holdings(client, questions, how),
    write: (client, moves, receipts, made, how) => store.write(client, moves, receipts, made, how),
    async spend(client, moves, how) {
      const made = await store.spend(client, moves, how)
      for (const move of made) if (move.credits.size > 0) burnt(move)
      return made
    },
    enrol: (client, strangers, how) => store.enrol(client, strangers, how),
    isOutdated: (client, error) => store.isOutdated(client, error),
  }
}
