-- Prices that sell credits instead of a package, and the credits that were bought.

alter table price
  alter column package_id drop not null,
  add column feature_id text,
  -- sold of that feature, and how long they can be used
  add column units bigint check (units between 1 and 9007199254740991),
  add column expires_days int check (expires_days >= 1),
  add constraint price_sells check ((package_id is null) = (units is not null) and (feature_id is null) = (units is null)),
  add foreign key (app_id, feature_id) references feature;
-- A payment link for credits names the price without its provider.
create unique index price_credits on price (app_id, id) where units is not null;

alter table checkout_session
  alter column template_id drop not null,
  -- null: the link sells packages; otherwise { featureId, units, expiresDays }
  add column credits json;

alter table credit
  -- the purchase, and how many units were bought; null: not bought by a payment link
  add column provider text,
  add column provider_ref text,
  add column bought bigint,
  drop constraint credit_amount_check,
  -- 0: refunded in full before any of it was used
  add constraint credit_amount_check check (amount between 0 and 9007199254740991);
-- However often a payment is reported, it is one credit.
create unique index credit_bought on credit (app_id, provider, provider_ref) where provider_ref is not null;
