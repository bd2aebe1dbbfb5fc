import type { Scenario } from './scenario.ts'
import { audit } from './scenarios/audit.ts'
import { citus } from './scenarios/citus.ts'
import { clock } from './scenarios/clock.ts'
import { cutReplies } from './scenarios/cut-replies.ts'
import { events } from './scenarios/events.ts'
import { failover } from './scenarios/failover.ts'
import { histories } from './scenarios/histories.ts'
import { hostile } from './scenarios/hostile.ts'
import { importing } from './scenarios/import.ts'
import { kills, killsInCells } from './scenarios/kills.ts'
import { ledger } from './scenarios/ledger.ts'
import { changingLimits } from './scenarios/limits.ts'
import { lostNode } from './scenarios/lost-node.ts'
import { migrations } from './scenarios/migrations.ts'
import { network } from './scenarios/network.ts'
import { patroni } from './scenarios/patroni.ts'
import { plans } from './scenarios/plans.ts'
import { races, racesInCells } from './scenarios/races.ts'
import { rolling } from './scenarios/rolling.ts'
import { spending } from './scenarios/spending.ts'
import { storm } from './scenarios/storm.ts'

export const SCENARIOS: readonly Scenario[] = [
  kills,
  killsInCells,
  network,
  lostNode,
  failover,
  patroni,
  citus,
  races,
  racesInCells,
  changingLimits,
  spending,
  plans,
  cutReplies,
  hostile,
  storm,
  clock,
  rolling,
  ledger,
  events,
  histories,
  importing,
  migrations,
  audit,
]
