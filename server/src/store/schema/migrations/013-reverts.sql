-- The answer to the call that reverted what a reservation had settled; null: none did.
alter table usage_reservation add column reverted json;
