"""Wrong: it tells paid on every 201. A declined payment is 201 too, with the state failed."""

import sys

from right import Answer, Checkout


class Wrong(Checkout):
    def create(self) -> Answer | None:
        answer = super().create()
        if answer is not None and answer.status == 201:
            self.say("paid", answer.document["id"])
            sys.exit(0)
        return answer


if __name__ == "__main__":
    Wrong().run()
