"""Wrong: it tells paid on 202. The payment is still settling, and may be declined."""

import sys

from right import Answer, Checkout


class Wrong(Checkout):
    def create(self) -> Answer | None:
        answer = super().create()
        if answer is not None and answer.status == 202:
            self.say("paid", answer.document["id"])
            sys.exit(0)
        return answer


if __name__ == "__main__":
    Wrong().run()
