-- What the payer of a link chooses between before paying: [{ interval, items }], each as in items, which is empty until then.
alter table checkout_session add column choices json;
