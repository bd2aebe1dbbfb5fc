import { access } from './access.ts'
import { anchors } from './anchors.ts'
import type { Audit } from './audit.ts'
import { authentication } from './authentication.ts'
import { dashboard } from './dashboard.ts'
import { entitlements } from './entitlements.ts'
import { errors } from './errors.ts'
import { features } from './features.ts'
import { http } from './http.ts'
import { idempotency } from './idempotency.ts'
import { inputs } from './inputs.ts'
import { operations } from './operations.ts'
import { overrides } from './overrides.ts'
import { packages } from './packages.ts'
import { paging } from './paging.ts'
import { periods } from './periods.ts'
import { planChanges } from './plan-changes.ts'
import { refunds } from './refunds.ts'
import { resources } from './resources.ts'
import { severalPackages } from './several-packages.ts'
import { subscribe } from './subscribe.ts'
import { subscriptionLink } from './subscription-link.ts'
import { subscriptions } from './subscriptions.ts'
import { testClock } from './test-clock.ts'
import { tokens } from './tokens.ts'
import { usage } from './usage.ts'
import { users } from './users.ts'
import { versions } from './versions.ts'

/** The spec as a list of what must hold. The order is for reading: each stands for itself. */
export const audits: Audit[] = [
  ...resources,
  ...features,
  ...packages,
  ...entitlements,
  ...users,
  ...operations,
  ...inputs,
  ...subscribe,
  ...subscriptions,
  ...overrides,
  ...versions,
  ...planChanges,
  ...access,
  ...severalPackages,
  ...usage,
  ...periods,
  ...anchors,
  ...subscriptionLink,
  ...refunds,
  ...tokens,
  ...authentication,
  ...errors,
  ...http,
  ...paging,
  ...idempotency,
  ...dashboard,
  ...testClock,
]
