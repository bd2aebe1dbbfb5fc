"""Creates a feature and a user, grants an allowance, records usage and checks: `python3 quickstart.py`."""

import os

from tollgate import Tollgate, TollgateError


def main() -> None:
    client = Tollgate(os.environ.get("TOLLGATE_URL", "http://127.0.0.1:4000"), os.environ["TOLLGATE_API_KEY"])
    try:
        client.create_feature(id="reports", name="Reports", type="CONSUMABLE", unit_label="report")
        client.create_user(id="ada/1", name="Ada", metadata={"team": "maths"})
    except TollgateError as error:
        # They exist already if this is not the first run.
        if error.code != "BAD_USER_INPUT":
            raise
    client.set_override(id="ada/1", feature_id="reports", mode="REPLACE", limit=3)
    client.record_usage(user_id="ada/1", feature_id="reports", delta=2, action="SET")

    for delta in (1, 2):
        check = client.can_use_feature(user_id="ada/1", feature_id="reports", delta=delta)
        print(f"{delta} more: {check['access']} ({check['reasonCode']})")
    print("users:", ", ".join(user["id"] for user in client.each(client.users, first=1)))
    try:
        client.user(id="nobody")
    except TollgateError as error:
        print(f"{error.status} {error.code}: {error}")


if __name__ == "__main__":
    main()
