"""Wrong: it draws a key at each start. A start after a kill pays a second time."""

import uuid
from typing import Any

from right import Checkout


class Wrong(Checkout):
    def __init__(self) -> None:
        super().__init__()
        self.drawn = self.new_request() | {"key": str(uuid.uuid4())}

    def request(self) -> dict[str, Any]:
        return self.drawn


if __name__ == "__main__":
    Wrong().run()
