-- The price of a package at which it is sold if none is named. Before, it was the newest one in use.

alter table price add column is_default boolean not null default false;
update price p set is_default = true from (
  select distinct on (app_id, package_id) app_id, provider, id from price
  where package_id is not null and archived_at is null order by app_id, package_id, seq desc) newest
where p.app_id = newest.app_id and p.provider = newest.provider and p.id = newest.id;
create unique index price_default on price (app_id, package_id) where is_default and archived_at is null;
