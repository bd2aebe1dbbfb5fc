import { StartError } from '../../domain/errors.ts'
import { actAsOwner, homeOf, lockCellLayout, schemaOf, showCells } from '../../store/cells/cell-layout.ts'
import { readBuckets } from '../../store/cells/move-users.ts'
import {
  distributeCell,
  findWorkers,
  followCell,
  moveCell,
  nameOfWorker,
  workersOfCells,
} from '../../store/cells/remote-cells.ts'
import { type Pool, transactionOnce } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { soon, takeLeftBehind, type Waiting } from './cells.ts'

/** Moves a cell without users to another server, which Citus chooses. */
export async function distribute(pool: Pool, cell: number, waiting: Waiting): Promise<void> {
  await findWorkers(pool)
  await mustBeEmpty(pool, cell)
  const home = await homeOf(pool)
  await takeLeftBehind(pool, cell, waiting)
  await soon(pool, waiting, async (tx) => {
    await lockCellLayout(tx)
    await mustBeEmpty(tx, cell)
    await distributeCell(tx, schemaOf(cell), home)
    await actAsOwner(tx)
    await showCells(tx, home)
  })
}

async function mustBeEmpty(db: HomeDb, cell: number): Promise<void> {
  if (cell === 0)
    throw new StartError(
      'Cell 0 cannot be moved to another server. Add a cell, distribute it, and move users to it.',
    )
  if ((await workersOfCells(db)).has(schemaOf(cell)))
    throw new StartError(
      `Cell ${cell} is already on another server. Use "move" to move it to a different one.`,
    )
  if ((await readBuckets(db)).includes(cell))
    throw new StartError(
      `Cell ${cell} contains users. Move them to another cell first (npx tollgate cells empty ${cell} --into 0).`,
    )
}

/** Moves a cell from one server to another, given as host and port, while it is in use. */
export async function moveToWorker(pool: Pool, cell: number, name: string): Promise<void> {
  const workers = await findWorkers(pool)
  const to = workers.find((worker) => nameOfWorker(worker) === name)
  if (!to)
    throw new StartError(
      `Citus has no worker ${name}. Available workers: ${workers.map(nameOfWorker).join(' and ')}.`,
    )
  const from = (await workersOfCells(pool)).get(schemaOf(cell))
  if (!from)
    throw new StartError(
      `Cell ${cell} is on this server. Distribute it first (npx tollgate cells distribute ${cell}).`,
    )
  if (nameOfWorker(from) !== name) await moveCell(pool, schemaOf(cell), to)
  await transactionOnce(pool, (tx) => followCell(tx, schemaOf(cell)))
}
