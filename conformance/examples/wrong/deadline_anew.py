"""Wrong: it computes the deadline anew for each start. The same key then has another body."""

import datetime
from typing import Any

from right import Checkout


class Wrong(Checkout):
    def request(self) -> dict[str, Any]:
        request = super().request()
        deadline = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=5)
        body = request["body"] | {"deadline": deadline.isoformat(timespec="milliseconds").replace("+00:00", "Z")}
        return request | {"body": body}


if __name__ == "__main__":
    Wrong().run()
