-- Credits and reservations are found by (app_id, id) or by their user. While the tables are small, PostgreSQL took the second
-- index for the first search, and read every row of the app: both began with app_id.
drop index credit_user;
create index credit_user on credit (user_uid, feature_id, seq);
drop index usage_reservation_user;
create index usage_reservation_user on usage_reservation (user_uid, feature_id, seq);
