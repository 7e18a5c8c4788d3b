"""Wrong: it calls a request without an answer a failure. The payment may have succeeded."""

import sys

from right import Answer, Checkout


class Wrong(Checkout):
    def create(self) -> Answer | None:
        answer = super().create()
        if answer is None:
            self.say("failed", None)
            sys.exit(0)
        return answer


if __name__ == "__main__":
    Wrong().run()
