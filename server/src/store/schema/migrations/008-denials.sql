-- The latest denial of each feature and user: a denied check, or usage that was refused.
create table denial (
  app_id       text not null,
  feature_id   text not null,
  user_uid     bigint not null,
  -- CHECK or RECORD
  kind         text not null,
  reason       text not null,
  -- times that processes reported it, each at most once in a few seconds
  times        bigint not null,
  first_at     timestamptz(3) not null,
  denied_at    timestamptz(3) not null,
  primary key (app_id, feature_id, user_uid),
  foreign key (app_id, feature_id) references feature on delete cascade
);
create index denial_age on denial (app_id, feature_id, denied_at, user_uid);
create index denial_user on denial (app_id, user_uid);
