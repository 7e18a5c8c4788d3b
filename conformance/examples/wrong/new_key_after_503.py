"""Wrong: it takes a new key after 503. An earlier request under the first key may have paid."""

import uuid

from right import Answer, Checkout


class Wrong(Checkout):
    def create(self) -> Answer | None:
        answer = super().create()
        if answer is not None and answer.status == 503:
            self.store(self.request() | {"key": str(uuid.uuid4())})
        return answer


if __name__ == "__main__":
    Wrong().run()
