-- Rows of deleted apps and of deleted users are found by these.
create index event_outbox_of_app on event_outbox (app_id, user_uid);
