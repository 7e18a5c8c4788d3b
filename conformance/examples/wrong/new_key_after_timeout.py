"""Wrong: it takes a new key after a request without an answer. The first request may have paid."""

import uuid

from right import Answer, Checkout


class Wrong(Checkout):
    def create(self) -> Answer | None:
        answer = super().create()
        if answer is None:
            self.store(self.request() | {"key": str(uuid.uuid4())})
        return answer


if __name__ == "__main__":
    Wrong().run()
