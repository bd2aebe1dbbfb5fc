-- Caps and a limit of overage of an entitlement, for every subscriber.
alter table package_feature
  add column overage_cap bigint check (overage_cap between 0 and 9007199254740991),
  -- [{ period, limit, perEntity }]; null: none
  add column caps json;

-- Without a limit of its own, a row is the count of a cap of the plan.
alter table usage_cap alter column "limit" drop not null;
create index usage_cap_own on usage_cap (app_id, user_uid, feature_id) where "limit" is not null;
-- Counts of windows that have ended are deleted.
create index usage_cap_counts on usage_cap (period, window_start) where "limit" is null;
