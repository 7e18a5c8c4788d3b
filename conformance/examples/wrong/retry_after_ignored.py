"""Wrong: it asks again at its own pace, whatever Retry-After says."""

import time

from right import Answer, Checkout


class Wrong(Checkout):
    def wait(self, answer: Answer | None) -> None:
        time.sleep(0.3)


if __name__ == "__main__":
    Wrong().run()
