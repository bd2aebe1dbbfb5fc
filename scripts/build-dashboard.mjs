import { buildDashboard } from './ready.mjs'

buildDashboard()
