import type { Scenario } from './scenario.ts'
import { clock } from './scenarios/clock.ts'
import { cutReplies } from './scenarios/cut-replies.ts'
import { failover } from './scenarios/failover.ts'
import { hostile } from './scenarios/hostile.ts'
import { kills } from './scenarios/kills.ts'
import { lostNode } from './scenarios/lost-node.ts'
import { network } from './scenarios/network.ts'
import { races } from './scenarios/races.ts'
import { rolling } from './scenarios/rolling.ts'
import { storm } from './scenarios/storm.ts'

export const SCENARIOS: readonly Scenario[] = [
  kills,
  network,
  lostNode,
  failover,
  races,
  cutReplies,
  hostile,
  storm,
  clock,
  rolling,
]
