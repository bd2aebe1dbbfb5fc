import type { Scenario } from './scenario.ts'
import { cutReplies } from './scenarios/cut-replies.ts'
import { hostile } from './scenarios/hostile.ts'
import { kills } from './scenarios/kills.ts'
import { races } from './scenarios/races.ts'

export const SCENARIOS: readonly Scenario[] = [kills, races, cutReplies, hostile]
