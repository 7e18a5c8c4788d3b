"""Wrong: it calls 503 a failure. Nobody has said that the payment failed, and it was not tried again."""

import sys

from right import Answer, Checkout


class Wrong(Checkout):
    def create(self) -> Answer | None:
        answer = super().create()
        if answer is not None and answer.status == 503:
            self.say("failed", None)
            sys.exit(0)
        return answer


if __name__ == "__main__":
    Wrong().run()
