-- Publications at a chosen time, by the app's clock, with whom they are for and who scheduled them. Null: none.
alter table package add column publish_at timestamptz(3), add column publication json;
create index package_publish_at on package (publish_at) where publish_at is not null;
