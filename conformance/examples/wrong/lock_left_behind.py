"""Wrong: it does not start beside a lock file, and a kill leaves the file behind. The order never ends."""

import sys

from right import Checkout


class Wrong(Checkout):
    def run(self) -> None:
        lock = self.file.with_name("lock")
        if lock.exists():
            sys.exit("Another process pays this order.")
        lock.touch()
        super().run()
        lock.unlink()


if __name__ == "__main__":
    Wrong().run()
