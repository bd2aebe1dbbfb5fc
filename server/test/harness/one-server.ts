import { inject } from 'vitest'

/**
 * Whether the tests run on a Citus cluster. What counts statements, adds triggers or watches locks of users cannot be seen
 * there from the coordinator, and is not tried.
 */
export const onCluster = inject('clusterUrls').length > 0
