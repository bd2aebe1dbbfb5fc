-- Who published a version of a package or moved its subscriptions, and why. Null: not recorded.
alter table package_history add column author text, add column note text;
alter table package add column first_published_by text, add column first_published_note text;
