"""Wrong: it draws a key, and stores it after the answer. A kill between both loses the key."""

import uuid
from typing import Any

from right import Answer, Checkout


class Wrong(Checkout):
    def __init__(self) -> None:
        super().__init__()
        self.drawn = self.new_request() | {"key": str(uuid.uuid4())}

    def request(self) -> dict[str, Any]:
        return super().request() if self.file.exists() else self.drawn

    def create(self) -> Answer | None:
        request = self.request()
        answer = self.call("POST", "/v1/payments", request)
        if answer is not None and answer.status in (201, 202):
            self.store(request)
        return answer


if __name__ == "__main__":
    Wrong().run()
