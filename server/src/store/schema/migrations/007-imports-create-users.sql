-- Imports create users and change names and metadata. A row that creates a user has the outcome CREATE; until it is
-- applied, its user_uid is a negative number derived from the id, so that the indexes find two rows for one new user.
alter table user_import
  add column new_users bigint not null default 0,
  add column created bigint not null default 0,
  add column removed bigint not null default 0;
-- Null in both: not in the file, or unchanged.
alter table user_import_row
  add column old_name text,
  add column new_name text,
  add column old_metadata text,
  add column new_metadata text,
  -- the plan of a new user
  add column plan text;
