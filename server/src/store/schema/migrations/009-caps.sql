-- Caps: limits of a user's usage in windows of the UTC calendar, of all of it or of one entity.

-- Whoever changes one of them has locked the spender's row and raises its version.
create table usage_cap (
  app_id        text not null references app,
  user_uid      bigint not null,
  feature_id    text not null,
  -- type:id; empty: all usage of the user
  entity        text not null,
  period        text not null,
  "limit"       bigint not null check ("limit" between 0 and 9007199254740991),
  -- usage of the window that started then
  window_start  timestamptz(3) not null,
  used          bigint not null default 0 check (used >= 0),
  primary key (app_id, user_uid, feature_id, entity, period),
  foreign key (app_id, feature_id) references feature
) with (fillfactor = 70);
