import { graphql } from '../api/graphql.ts'

/** A package with its draft, and the features of the app. */
export const PACKAGE = graphql(`
  query Package($appId: String!, $id: String!) {
    package(appId: $appId, id: $id) {
      id name status isAddon archived metadata updatedAt version
      grants { id limit resetPeriod overageEnabled overageCap caps { limit period perEntity } }
      scheduled { at for note author problem }
      draft { name grants { id limit resetPeriod overageEnabled overageCap caps { limit period perEntity } } }
    }
    features(appId: $appId) { id name type unitLabel unitLabelPlural archived }
  }
`)
